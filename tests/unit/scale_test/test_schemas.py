"""Every file of a session matches its schema, and the schema has each of its fields."""

from __future__ import annotations

import asyncio

import jsonschema
import pytest

from tests.schemas import schema_of

from .fake_api import CREATED_AT, FakeApi
from .sessions import EVENTS, JOBS, PODS, Scene, eventually

DOCUMENTS = ("recording", "accounting", "nodes", "progress")
JOURNALS = ("submissions", "transitions", "events")
# fields that earlier recordings do not have: readers accept rows without them
ADDED = {
    "recording": {"workload_kind", "selector", "error", "not_watched", "disturbances"},
    "submissions": {"submitter", "priority", "round", "replaces"},
    "accounting": {"churned", "discrepancies", "running_by_cause"},
    "nodes": {"levels", "listed"},
    # fields that another command may leave out
    "progress": {"done", "of", "durations", "elapsed_s", "summary"},
}


# Fields that only other commands write, or rows of other kinds have
OTHERS = {"progress": {"lines"}, "transitions": {"devices", "gpus", "cluster"}}


@pytest.fixture(name="scene", scope="module")
def _scene(tmp_path_factory: pytest.TempPathFactory) -> Scene:
    async def meanwhile(api: FakeApi) -> None:
        await eventually(lambda: len(api.objects.get(JOBS, {})) == 2)
        first, second = sorted(api.objects[JOBS])
        pod = {"metadata": {"name": f"{first}-x", "namespace": "test"}, "spec": {"nodeName": "node-0000"}}
        await api.create(PODS, pod)
        event = {
            "metadata": {"name": "e"},
            "involvedObject": {"kind": "Pod", "name": f"{first}-x"},
            "eventTime": CREATED_AT,
        }
        await api.create(EVENTS, event)
        await asyncio.sleep(0.1)
        await api.fail(JOBS, first, "BackoffLimitExceeded")
        await api.delete(JOBS, second)

    scene = Scene(tmp_path_factory.mktemp("session"), count=3, connections=1, meanwhile=meanwhile)
    scene.play(lambda api: api.post_faults.extend([429, 403]))
    return scene


@pytest.mark.parametrize("name", DOCUMENTS)
def test_document_follows_its_schema(scene: Scene, name: str) -> None:
    jsonschema.validate(scene.document(name), schema_of(name))
    assert scene.document(name).keys() == schema_of(name)["properties"].keys() - OTHERS.get(name, set())


@pytest.mark.parametrize("name", JOURNALS)
def test_every_row_follows_its_schema(scene: Scene, name: str) -> None:
    rows = scene.rows(name)
    assert rows
    for row in rows:
        jsonschema.validate(row, schema_of(name))
        assert row.keys() == schema_of(name)["properties"].keys() - OTHERS.get(name, set())


@pytest.mark.parametrize("name", (*DOCUMENTS, *JOURNALS))
def test_missing_field_is_refused(scene: Scene, name: str) -> None:
    complete = scene.document(name) if name in DOCUMENTS else scene.rows(name)[0]
    required = schema_of(name)["required"]
    assert complete.keys() - set(required) == ADDED.get(name, set())
    for field in required:
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({key: value for key, value in complete.items() if key != field}, schema_of(name))


def test_every_failure_has_a_cause(scene: Scene) -> None:
    assert scene.document("accounting")["lost_by_cause"] == {"deleted before its end": 1}
    assert scene.document("accounting")["failed_by_cause"] == {"BackoffLimitExceeded": 1, "refused: 403 Forbidden": 1}
    assert scene.document("recording")["client"]["requests"]["retries"] == {"429": 1}
