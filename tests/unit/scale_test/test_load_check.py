"""What of a load is refused before anything is touched, and by which setting's name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.machines.sizing import Pods
from ansible_collections.psap.perf.plugins.module_utils.scale_test.session.load_check import check_load, pods_of
from ansible_collections.psap.perf.plugins.module_utils.settings.project import Project

PROJECT = Project(Path(__file__).resolve().parents[3])
SETTINGS = {option.name: option.default for option in PROJECT.flow("scale_test").settings}
CELLS = [{"scale_test_count": 10}, {"scale_test_count": 40}]


def find(_folder: str, named: str) -> Path:
    """As the verb does, by path alone."""
    if not Path(named).is_file():
        raise UsageError(f"there is no file {named}")
    return Path(named)


def refused(**given: Any) -> str:
    """What is said of these settings, their common beginning left out."""
    changed = {f"scale_test_{name}": value for name, value in given.items()}
    with pytest.raises(UsageError) as said:
        check_load({**SETTINGS, **changed}, CELLS, find)
    assert said.value.exit_code == 2
    return str(said.value)


def test_the_defaults_make_a_load() -> None:
    check_load(SETTINGS, CELLS, find)


def test_the_pods_of_each_cell_are_what_machines_are_counted_for() -> None:
    settings = {**SETTINGS, "scale_test_pods": 2, "scale_test_cpu": "1", "scale_test_gpus": 1}

    found = pods_of(settings, [{"scale_test_count": 10}, {"scale_test_count": 40, "scale_test_gpus": 4}])

    assert found == [
        [Pods(20, "1", SETTINGS["scale_test_memory"], 1)],
        [Pods(80, "1", SETTINGS["scale_test_memory"], 4)],
    ]


@pytest.mark.parametrize(
    ("setting", "value", "why"),
    [
        ("churn_period", "abc", "'abc' is not a duration"),
        ("churn_period", "-5s", "'-5s' is not a duration"),
        ("metrics_interval", "xx", "'xx' is not a duration"),
        ("duration", "-1s", "'-1s' is not a duration"),
        ("batch_delay", "x", "'x' is not a duration"),
        ("timeout", "soon", "'soon' is not a duration"),
        ("timeout", "0s", "'0s' must be above 0"),
        ("metrics_endpoints", {"foo": "bar"}, "the metrics endpoint of 'foo' cannot be used"),
        ("metrics_endpoints", {"etcd": "bar"}, "the metrics endpoint 'bar' of etcd is no http(s) URL"),
        ("phases", [{"duration": "1m", "to": -1.0}], "phase 1 needs a duration above 0 and rates of at least 0"),
        ("phases", [{"duration": "long", "to": 1.0}], "'long' is not a duration"),
        ("priorities", [{"name": "high", "value": 2_000_000_000}], "the priority high has the value 2000000000"),
        ("priorities", [{"name": "High", "value": 1}], "the priority 'High' needs a name of its own"),
        ("tenants", [{"namespace": "Bad_NS"}], "'Bad_NS' is no name of a namespace"),
        ("tenants", [{"namespace": "a", "quota": 4}], "the quota 4 of a tenant needs a queue"),
        ("namespace", "a.b", "'a.b' is no name of a namespace"),
        ("project", "Team", "'runai-Team' is no name of a namespace"),
        ("pvc_size", "12x", "'12x' is no quantity"),
        ("pvc_size", "0Gi", "'0Gi' is no size of a volume"),
        ("trace", "/nonexistent.csv", "there is no file /nonexistent.csv"),
        ("template", "/no/such.yml", "there is no file /no/such.yml"),
    ],
)
def test_a_value_that_makes_no_load_is_refused_by_its_settings_name(setting: str, value: Any, why: str) -> None:
    said = refused(**{setting: value})
    assert said.startswith(f"scale_test_{setting}: ")
    assert why in said


def test_all_is_told_at_once_and_each_thing_once() -> None:
    lines = refused(churn_period="abc", phases=[{"duration": "x", "to": 1.0}], template="/no/such.yml").splitlines()
    assert [line.partition(":")[0] for line in lines] == [
        "scale_test_churn_period",
        "scale_test_template",
        "scale_test_phases",
    ]


def test_phases_that_end_too_early_for_one_cell_are_refused() -> None:
    phases = [{"duration": "10s", "from": 2.0, "to": 2.0}, {"duration": "1s", "to": 0.0}]
    said = refused(phases=phases)
    assert said.startswith("scale_test_phases: the phases end at a rate of 0 after about 21 workloads, before all 40")
    check_load({**SETTINGS, "scale_test_phases": phases}, CELLS[:1], find)


def test_a_trace_is_read_and_must_have_enough_for_every_cell(tmp_path: Path) -> None:
    trace = tmp_path / "trace.csv"
    trace.write_text("time_s\n" + "1\n" * 20)
    assert refused(trace=str(trace)) == f"scale_test_trace: {trace} has 20 workloads, but 40 are asked for"
    trace.write_text("time\n1\n")
    assert refused(trace=str(trace)).startswith(f"scale_test_trace: {trace}:1: the header is time")
