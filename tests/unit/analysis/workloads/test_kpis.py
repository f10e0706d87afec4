"""KPIs: complete declarations, null with a reason for missing values, standard document formats."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import jsonschema
import numpy as np
import pytest
from perfanalysis.workloads.kpis import Kpi, KpiValue, evaluate, kpis_document
from perfanalysis.workloads.percentiles import Value
from perfanalysis.workloads.scale_test.analysis import SPECS
from perfanalysis.workloads.scale_test.kpis import KPIS
from perfanalysis.workloads.scale_test.measures import measure
from perfanalysis.workloads.scale_test.steps import STEPS

from tests.schemas import schema_of
from tests.unit.analysis.hand_made import life, submission, tables


def declare(function: Callable[[None], Value], **changes: str) -> Kpi[None]:
    declared = {"name": "speed", "help": "how fast", "unit": "workloads/s", "direction": "higher", **changes}
    return Kpi(function=function, **declared)  # type: ignore[arg-type]  # wrong words are what is tested


def evaluate_value(value: Value, **changes: str) -> KpiValue:
    return evaluate([declare(lambda _: value, **changes)], None)[0]


@pytest.mark.parametrize(
    "changes",
    [
        {"unit": ""},
        {"unit": "ms"},
        {"help": ""},
        {"direction": "up"},
        {"direction": ""},
        {"name": "Speed"},
        {"name": "with space"},
    ],
)
def test_incomplete_declarations_are_refused(changes: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="KPI"):
        declare(lambda _: Value(1.0), **changes)


def test_declaration_without_unit_or_direction_is_refused() -> None:
    for missing in ("unit", "direction", "help"):
        given = {"name": "speed", "help": "how fast", "unit": "seconds", "direction": "lower"}
        del given[missing]
        with pytest.raises(TypeError, match=missing):
            Kpi(function=lambda _: Value(1.0), **given)  # type: ignore[arg-type]  # what is tested


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
@pytest.mark.parametrize("place", ["number", "low", "high"])
def test_non_finite_numbers_are_refused(number: float, place: str) -> None:
    given: dict[str, float] = {"number": 1.0, place: number}
    with pytest.raises(ValueError, match="return None and a reason if the value is missing"):
        evaluate_value(Value(**given))  # type: ignore[arg-type]  # only numbers are given


def test_numpy_numbers_become_python_numbers() -> None:
    value = evaluate_value(Value(np.int64(3), low=np.float32(2), high=np.float64(4), count=np.int32(7)))  # type: ignore[arg-type]
    assert json.dumps([value.number, value.low, value.high, value.count]) == "[3.0, 2.0, 4.0, 7]"


def test_kpis_of_one_name_are_distinguished_by_labels() -> None:
    kpi: Kpi[None] = Kpi("waits", "how long", "s", "lower", lambda _: Value(1.0), labels={"tenant": 'a"b'})
    (value,) = evaluate([kpi], None)
    assert (value.unit, value.series) == ("seconds", 'waits{tenant="a\\"b"}')
    document = kpis_document({"run": "r"}, [({"recording": "x"}, (value,))])
    assert document["kpis"][0]["labels"] == {"recording": "x", "tenant": 'a"b'}
    with pytest.raises(ValueError, match="invalid label 'with space'"):
        Kpi("waits", "how long", "s", "lower", lambda _: Value(1.0), labels={"with space": ""})


def test_missing_value_without_a_reason_is_refused() -> None:
    with pytest.raises(ValueError, match="neither a number nor a reason"):
        evaluate_value(Value(None))


def test_empty_recording_yields_reasons_and_no_sentinels() -> None:
    values = evaluate(KPIS, measure(tables([], []), {}, {}))
    given = {value.name: value.number for value in values if value.number is not None}
    assert given == {"workloads_submitted": 0.0}
    assert all(value.reason for value in values if value.number is None)


def test_values_match_hand_computation() -> None:
    # Ten workloads sent a second apart on one GPU of two, each running for one second from two seconds after.
    sent = [submission(f"w{place}", float(place)) for place in range(10)]
    seen = []
    for place in range(10):
        at = place + 2.0
        times = {"pod_created": at, "scheduled": at, "running": at, "succeeded": at + 1, "completed": at + 1}
        seen += life(f"w{place}", created=place + 0.5, **times)
    stated = {"submitted": 10, "completed": 10, "failed": 0, "lost": 0, "running": 0}
    values = evaluate(KPIS, measure(tables(sent, seen, gpus=[2.0]), {}, stated))
    numbers = {value.name: value.number for value in values}
    expected = {
        "workloads_submitted": 10.0,
        "completed_ratio": 1.0,
        "failed_ratio": 0.0,
        "lost_ratio": 0.0,
        "makespan": 12.0,
        "submission_rate": 1.0,
        "time_to_running_p50": 2.0,
        "execution_p50": 1.0,
        "peak_running": 1.0,
        "gpu_allocation_ratio": 10 / (2 * 12),
        "gpu_idle_while_waiting": 0.0,
    }
    assert {name: numbers[name] for name in expected} == pytest.approx(expected)
    assert numbers["time_to_running_p99"] is None


def test_kpi_document_follows_its_schema() -> None:
    values = evaluate(KPIS, measure(tables([submission("a", 1.0)], []), {}, {}))
    facts = {"run": "r", "flow": None, "status": "ok", "lab": {"real": [], "emulated": [], "simulated": ["nodes"]}}
    document = kpis_document(facts, [({"recording": "x", "cell": "0"}, values)])
    jsonschema.validate(document, schema_of("kpis"))
    assert json.loads(json.dumps(document)) == document


def test_schema_refuses_null_without_a_reason() -> None:
    document = kpis_document(
        {"run": "r", "flow": None, "status": "ok", "lab": None},
        [({"recording": "x"}, (evaluate_value(Value(1.0)),))],
    )
    document["kpis"][0]["value"] = None
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document, schema_of("kpis"))


def test_every_step_kpi_and_table_is_documented() -> None:
    text = (Path(__file__).resolve().parents[4] / "docs" / "analysis.md").read_text()
    of_steps = {f"{step.name}_{statistic}" for step in STEPS for statistic in ("p50", "p99")}
    names = {step.name for step in STEPS} | ({kpi.name for kpi in KPIS} - of_steps) | set(SPECS)
    assert {name for name in names if f"`{name}`" not in text} == set()
