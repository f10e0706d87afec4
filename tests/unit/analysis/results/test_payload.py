"""The payload: its schema is generated from its types, real payloads follow it, and all digits round-trip."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from click.testing import CliRunner
from perfanalysis.cli import cli
from perfanalysis.errors import UsageError
from perfanalysis.results.history.documents import of_payload
from perfanalysis.results.payload import Payload, from_json, payload_of, payload_schema, plain, to_json
from perfanalysis.workloads.run_analysis import analyse_run

from tests.data.fine_tuning_runs import matrix, write_tuning_run
from tests.data.synthetic_runs import Shape, write_run
from tests.schemas import FOLDER, check

pytestmark = pytest.mark.slow

RUN = Path(__file__).resolve().parents[3] / "data" / "runs" / "v1" / "scale_test-20261120T093000Z-5f3a1c"


def payload(folder: Path, run: Path) -> Payload:
    return payload_of(analyse_run(run, folder / "report"))


@pytest.fixture(scope="module", params=["kept", "several", "fine tuning", "empty"])
def real_payload(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Payload:
    folder = tmp_path_factory.mktemp("run")
    if request.param == "several":
        return payload(folder, write_run(folder, [Shape(workloads=40, nodes=4), Shape(workloads=120, everything=True)]))
    if request.param == "fine tuning":
        return payload(folder, write_tuning_run(folder, matrix()))
    if request.param == "empty":
        document = json.loads((RUN / "run.json").read_text())
        failed = {"what": "cluster__capture", "where": "x.yml:1", "directory": None, "why": "no cluster"}
        (folder / "run.json").write_text(json.dumps({**document, "status": "failed", "reason": failed}))
        found = payload(folder, folder)
        assert found.metadata.reason == "cluster__capture: no cluster"
        return found
    return payload(folder, RUN)


def test_schema_equals_the_published_one() -> None:
    done = CliRunner().invoke(cli, ["schema", "payload"], catch_exceptions=False)
    assert done.output == (FOLDER / "payload-1.json").read_text(encoding="utf-8")
    jsonschema.Draft202012Validator.check_schema(payload_schema())


def test_real_payloads_follow_the_schema_and_round_trip(real_payload: Payload) -> None:
    text = json.dumps(to_json(real_payload), allow_nan=False)
    assert check(json.loads(text)) == "psap.perf/payload/1"
    assert from_json(json.loads(text)) == real_payload
    assert repr(from_json(json.loads(text))) == repr(real_payload)


def test_history_follows_its_schema(real_payload: Payload) -> None:
    document = of_payload(real_payload)
    assert check(document) == "psap.perf/history/1"
    kept = sum(len(each["kpis"]) for each in document["recordings"])
    assert kept == sum(kpi.number is not None for kpi in real_payload.kpis)


def test_missing_value_has_a_reason(real_payload: Payload) -> None:
    assert all(kpi.reason for kpi in real_payload.kpis if kpi.number is None)
    statistics = [each for result in real_payload.results for of in result.distributions for each in of.statistics]
    assert all(each.reason for each in statistics if each.number is None)


def test_payload_describes_its_run(tmp_path: Path) -> None:
    given = json.loads((RUN / "run.json").read_text())
    done = CliRunner().invoke(cli, ["payload", str(RUN), "--output", str(tmp_path)], catch_exceptions=False)
    assert done.exit_code == 0
    document = json.loads(done.output)
    assert check(json.loads((tmp_path / "payload.json").read_text())) == document["schema"]
    metadata = document["metadata"]
    assert (metadata["run"], metadata["started"], metadata["status"]) == (given["id"], given["started"], "ok")
    # The server's address and the site are not exported.
    assert {"cluster.version", "git.commit", "version.kubernetes"} <= metadata["facts"].keys()
    assert "cluster.server" not in metadata["facts"]
    assert "127.0.0.1" not in done.output
    (result,) = document["results"]
    assert result["distributions"]
    assert {kpi["recording"] for kpi in document["kpis"]} == {result["recording"]}


def edit(place: list[Any], value: Any) -> dict[str, Any]:
    document = copy.deepcopy(DOCUMENT)
    part: Any = document
    for step in place[:-1]:
        part = part[step]
    part[place[-1]] = value
    return document


DOCUMENT: dict[str, Any] = {
    "schema": "psap.perf/payload/1",
    "metadata": {
        "run": "r",
        "flow": None,
        "status": "ok",
        "reason": None,
        "started": None,
        "ended": None,
        "lab": {"simulated": [], "emulated": [], "real": []},
        "analysis": "1",
        "facts": {},
        "findings": [],
    },
    "results": [],
    "kpis": [
        {
            "name": "a",
            "help": "h",
            "unit": "seconds",
            "direction": "lower",
            "recording": "x",
            "labels": {},
            "value": 3,
            "reason": None,
            "low": None,
            "high": None,
            "count": 1,
        }
    ],
}


def test_integers_become_floats_and_unknown_keys_are_ignored() -> None:
    found = from_json({**DOCUMENT, "more": 1})
    assert (found.kpis[0].number, type(found.kpis[0].number)) == (3.0, float)


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ([], "not a payload"),
        ({"schema": "psap.perf/kpis/1"}, "expected a payload document, found a kpis document"),
        ({"schema": "psap.perf/payload/9"}, "its major version is 9"),
        ({"schema": "psap.perf/payload/1"}, "missing required field `metadata`"),
        (edit(["kpis", 0, "value"], "3"), r"Expected `float [|] null`, got `str` - at `[$].kpis\[0\].value`"),
        (edit(["kpis", 0, "value"], True), r"Expected `float [|] null`, got `bool` - at `[$].kpis\[0\].value`"),
        (edit(["kpis", 0, "count"], 1.5), r"Expected `int [|] null`, got `float` - at `[$].kpis\[0\].count`"),
        (edit(["kpis", 0, "direction"], "up"), r"Invalid enum value 'up' - at `[$].kpis\[0\].direction`"),
        (
            edit(["metadata", "lab", "simulated"], "nodes"),
            r"Expected `array`, got `str` - at `[$].metadata.lab.simulated`",
        ),
        (edit(["metadata", "facts"], []), r"Expected `object`, got `array` - at `[$].metadata.facts`"),
        (edit(["kpis"], [None]), r"Expected `object`, got `null` - at `[$].kpis\[0\]`"),
    ],
)
def test_invalid_value_is_refused_with_its_path(document: object, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        from_json(document)


def test_schema_refuses_null_without_a_reason() -> None:
    jsonschema.validate(DOCUMENT, payload_schema())
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(edit(["kpis", 0, "value"], None), payload_schema())


def test_yaml_values_become_json_values() -> None:
    import datetime

    given = {1: datetime.date(2026, 3, 1), "a": (float("nan"), 1.5, None), "b": {"c"}}
    assert plain(given) == {"1": "2026-03-01", "a": ["nan", 1.5, None], "b": ["c"]}
