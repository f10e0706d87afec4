"""Several submitting processes run one submission, and their files match the schemas."""

from __future__ import annotations

import jsonschema
import pytest
from ansible_collections.psap.perf.plugins.module_utils.scale_test.session import requests

from tests.schemas import schema_of

from .fake_api import FakeApi
from .sessions import Scene, complete_all

pytestmark = pytest.mark.slow


@pytest.fixture(name="complete_session", scope="module")
def _whole(tmp_path_factory: pytest.TempPathFactory) -> Scene:
    scene = Scene(tmp_path_factory.mktemp("whole"), count=9, connections=5, submitters=2)

    def prepare(api: FakeApi) -> None:
        complete_all(api)
        api.post_faults.extend(["lost", 429, 503])

    end = scene.play(prepare)
    assert end.accounting.sentence() == "9 of 9 workloads submitted: 9 completed, 0 failed, 0 lost"
    assert end.accounting.identity_holds
    requests.judge(end, max_failed=0, timeout_s=1.0)
    return scene


def test_each_index_is_submitted_by_one_process(complete_session: Scene) -> None:
    rows = complete_session.rows("submissions")
    assert sorted((row["index"], row["submitter"]) for row in rows) == [(index, index % 2) for index in range(9)]
    assert len({row["uid"] for row in rows}) == 9


def test_no_process_begins_before_the_common_start(complete_session: Scene) -> None:
    begun = complete_session.document("submitters/go")["at_s"]
    ready = [complete_session.document(f"submitters/{number:02d}/ready") for number in (0, 1)]
    assert max(document["at_s"] for document in ready) < begun
    assert min(row["sent_s"] for row in complete_session.rows("submissions")) >= begun


def test_processes_of_one_machine_share_the_recording_clock(complete_session: Scene) -> None:
    clock = complete_session.document("recording")["clock"]
    for number in (0, 1):
        ready = complete_session.document(f"submitters/{number:02d}/ready")
        assert ready["clock"] == {**clock, "shared": True}
        assert abs(ready["wall_offset_s"]) < 60


def test_results_of_all_clients_are_summed(complete_session: Scene) -> None:
    counted = complete_session.document("recording")["client"]["requests"]
    assert counted["retries"] == {"429": 1, "503": 1, "connection lost": 1}
    assert counted["answers"]["201"] == 8
    assert counted["answers"]["409"] == 1
    assert [row["outcome"] for row in complete_session.rows("submissions")].count("existed") == 1


def test_process_keeps_only_gathered_results(complete_session: Scene) -> None:
    own = [row for number in (0, 1) for row in complete_session.rows(f"submitters/{number:02d}/submissions")]
    assert sorted(own, key=lambda row: row["index"]) == sorted(
        complete_session.rows("submissions"), key=lambda row: row["index"]
    )
    done = [complete_session.document(f"submitters/{number:02d}/done") for number in (0, 1)]
    assert [(one["sent"], one["answered"], one["ended_by"]) for one in done] == [(5, 5, "all sent"), (4, 4, "all sent")]


@pytest.mark.parametrize(
    ("path", "schema"),
    [
        ("plan", "submission-plan"),
        ("go", "submitter-go"),
        ("00/ready", "submitter-ready"),
        ("00/progress", "submitter-progress"),
        ("00/done", "submitter-progress"),
    ],
)
def test_every_file_of_the_protocol_follows_its_schema(complete_session: Scene, path: str, schema: str) -> None:
    known = schema_of(schema)
    document = complete_session.document(f"submitters/{path}")
    jsonschema.validate(document, known)
    assert document.keys() == known["properties"].keys()
    for field in document:
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({key: value for key, value in document.items() if key != field}, known)


def test_schema_covers_all_fields_of_a_variant(complete_session: Scene) -> None:
    known = schema_of("submission-plan")
    (variant,) = complete_session.document("submitters/plan")["variants"]
    assert variant.keys() == known["properties"]["variants"]["items"]["properties"].keys()


def test_every_notice_follows_its_schema(complete_session: Scene) -> None:
    known = schema_of("submitter-sending")
    notices = complete_session.rows("submitters/01/sending")
    assert sorted(notice["index"] for notice in notices) == [1, 3, 5, 7]
    for notice in notices:
        jsonschema.validate(notice, known)
