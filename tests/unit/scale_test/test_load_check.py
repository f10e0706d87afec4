"""Invalid loads are refused before anything changes, with the setting's name."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import Interrupted, UsageError
from ansible_collections.psap.perf.plugins.module_utils.machines.sizing import Pods
from ansible_collections.psap.perf.plugins.module_utils.scale_test.session.load_check import (
    check_load,
    fewest_workloads,
    pods_of,
)
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads.inputs import RANGES
from ansible_collections.psap.perf.plugins.module_utils.settings.project import Project
from ansible_collections.psap.perf.plugins.module_utils.settings.rules import broken_rules

from tests.data.loads import DEFAULTS, ROLE

PROJECT = Project(Path(__file__).resolve().parents[3])
SETTINGS = {option.name: option.default for option in PROJECT.flow("scale_test").settings}
CELLS = [{"scale_test_count": 10}, {"scale_test_count": 40}]


def find(folder: str, named: str) -> Path:
    """Find a file in the role or by path, like the verb."""
    path = ROLE / folder / named
    if not path.is_file():
        raise UsageError(f"there is no file {named}")
    return path


def check(cells: list[dict[str, Any]] | None = None, **given: Any) -> None:
    changed = {f"scale_test_{name}": value for name, value in given.items()}
    check_load({**SETTINGS, **changed}, CELLS if cells is None else cells, find, DEFAULTS)


def refused(**given: Any) -> str:
    """Return the error about these settings."""
    with pytest.raises(UsageError) as raised:
        check(**given)
    assert raised.value.exit_code == 2
    return str(raised.value)


def test_defaults_are_a_valid_load() -> None:
    check()


def test_queues_are_checked_if_only_the_second_cell_uses_them() -> None:
    cells = [{"scale_test_use_queues": used} for used in (False, True)]
    with pytest.raises(UsageError, match="scale_test_tenants: the cohort all of a tenant needs a quota"):
        check(cells, tenants=[{"queue": "gold", "cohort": "all"}])


def test_machine_count_uses_the_pods_of_each_cell() -> None:
    settings = {**SETTINGS, "scale_test_pods": 2, "scale_test_cpu": "1", "scale_test_gpus": 1}

    found = pods_of(settings, [{"scale_test_count": 10}, {"scale_test_count": 40, "scale_test_gpus": 4}])

    assert found == [
        [Pods(20, "1", SETTINGS["scale_test_memory"], 1)],
        [Pods(80, "1", SETTINGS["scale_test_memory"], 4)],
    ]


def test_minimum_workloads_include_those_of_churn() -> None:
    churned = {**SETTINGS, "scale_test_churn_percent": 50.0, "scale_test_churn_rounds": 2}
    assert (fewest_workloads(SETTINGS, CELLS), fewest_workloads(churned, CELLS)) == (10, 20)


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
        ("metrics_endpoints", {"foo": "bar"}, "unknown component 'foo' of a metrics endpoint"),
        ("metrics_endpoints", {"etcd": "bar"}, "the metrics endpoint 'bar' of etcd is not an http(s) URL"),
        ("phases", [{"duration": "1m", "to": -1.0}], "phase 1 needs a duration above 0 and rates of at least 0"),
        ("phases", [{"duration": "long", "to": 1.0}], "'long' is not a duration"),
        ("priorities", [{"name": "high", "value": 2_000_000_000}], "the priority high has the value 2000000000"),
        ("priorities", [{"name": "High", "value": 1}], "the priority 'High' needs a unique name"),
        ("tenants", [{"namespace": "Bad_NS"}], "'Bad_NS' is not a valid name of a namespace"),
        ("tenants", [{"namespace": "a", "quota": 4}], "the quota 4 of a tenant needs a queue"),
        ("claims", [{"name": "a", "requests": [{"name": "r"}]}], "the request r needs either a device_class"),
        ("claims", [{"name": "A", "requests": [{"name": "r", "device_class": "c"}]}], "'A' is not a valid name"),
        ("namespace", "a.b", "'a.b' is not a valid name of a namespace"),
        ("project", "Team", "'runai-Team' is not a valid name of a namespace"),
        ("pvc_size", "12x", "'12x' is not a quantity"),
        ("pvc_size", "0Gi", "'0Gi' is not a size of a volume"),
        ("trace", "/nonexistent.csv", "there is no file /nonexistent.csv"),
        ("template", "/no/such.yml", "there is no file /no/such.yml"),
    ],
)
def test_invalid_value_is_refused_by_its_settings_name(setting: str, value: Any, why: str) -> None:
    message = refused(**{setting: value})
    assert message.startswith(f"scale_test_{setting}: ")
    assert why in message


def test_all_mistakes_are_reported_once() -> None:
    lines = refused(churn_period="abc", phases=[{"duration": "x", "to": 1.0}], template="/no/such.yml").splitlines()
    assert [line.partition(":")[0] for line in lines] == [
        "scale_test_churn_period",
        "scale_test_template",
        "scale_test_phases",
    ]


def test_phases_too_short_for_a_cell_are_refused() -> None:
    phases = [{"duration": "10s", "from": 2.0, "to": 2.0}, {"duration": "1s", "to": 0.0}]
    message = refused(phases=phases)
    assert message.startswith(
        "scale_test_phases: the phases end at a rate of 0 after about 21 workloads, before all 40"
    )
    check(CELLS[:1], phases=phases)


def test_trace_must_have_enough_rows_for_every_cell(tmp_path: Path) -> None:
    trace = tmp_path / "trace.csv"
    trace.write_text("time_s\n" + "1\n" * 20)
    assert refused(trace=str(trace)) == f"scale_test_trace: {trace} has 20 workloads, but 40 are needed"
    trace.write_text("time\n1\n")
    assert refused(trace=str(trace)).startswith(f"scale_test_trace: {trace}:1: the header is time")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("apiVersion: v1\nkind: {{ kinds }}\n", ": 'kinds' is undefined; it may use: "),
        ("apiVersion: v1\nkind: {% if %}\n", ":2: Expected an expression, got 'end of statement block'"),
        ("kind: Pod\n", "the workload's template renders no apiVersion"),
        ("[]", " renders no Kubernetes object, but a list"),
        ("a: [1\n", " cannot be rendered: "),
        ("{{ refuse('not on a Tuesday') }}", ": not on a Tuesday"),
        ("a: &a [1, *a]\n", "an alias includes itself"),
    ],
)
def test_broken_template_is_refused_with_its_place(tmp_path: Path, text: str, why: str) -> None:
    template = tmp_path / "own.yml.j2"
    template.write_text(text)
    message = refused(template=str(template))
    assert message.startswith("scale_test_template: ")
    assert why in message


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (
            {"workload_kind": "Pod", "pods": 2},
            "scale_test_workload_kind: pods is 2, but a workload of kind Pod is one pod",
        ),
        ({"workload_kind": "TrainingWorkload", "queue": "q"}, "scale_test_workload_kind: a queue is Kueue's"),
        (
            {"workload_kind": "TrainingWorkload", "tenants": [{"namespace": "a"}, {"namespace": "b", "queue": "q"}]},
            "scale_test_workload_kind: a queue is Kueue's",
        ),
        ({"patch": {"kind": None}}, "scale_test_workload_kind: the workload's template renders no kind"),
    ],
)
def test_load_unsupported_by_the_template_is_refused(given: dict[str, Any], why: str) -> None:
    assert refused(**given).startswith(why)


def test_each_kind_of_cells_and_traces_is_rendered(tmp_path: Path) -> None:
    kinds = [{"scale_test_workload_kind": kind} for kind in ("Job", "Pod")]
    with pytest.raises(
        UsageError, match=r"^scale_test_workload_kind: pods is 2, but a workload of kind Pod is one pod"
    ):
        check(kinds, pods=2)
    trace = tmp_path / "trace.csv"
    trace.write_text("time_s,kind\n" + "0,Job\n" * 39 + "0,CronJob\n")
    assert "cronjob.yml.j2 cannot be read" in refused(trace=str(trace))


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (
            {"churn_percent": 50.0, "churn_rounds": 10**9},
            "churn_rounds is 1000000000: with those that are replaced 5000000010 workloads are submitted",
        ),
        (
            {"tenants": [{"weight": 10**9}, {"weight": 7}]},
            "scale_test_tenants: weights are [1000000000, 7]; they repeat",
        ),
        (
            {"priorities": [{"name": "a", "value": 1, "weight": 10**9}, {"name": "b", "value": 2}]},
            "scale_test_priorities: weights are [1000000000, 1]; they repeat",
        ),
    ],
)
def test_load_beyond_any_cluster_is_refused_quickly(given: dict[str, Any], why: str) -> None:
    began = time.process_time()
    assert why in refused(**given)
    assert time.process_time() - began < 1


def test_check_ends_between_cells_when_the_run_is_stopped() -> None:
    def stop() -> None:
        raise Interrupted("interrupted")

    with pytest.raises(Interrupted):
        check_load(SETTINGS, CELLS, find, DEFAULTS, stop)


@pytest.mark.parametrize("setting", ["count", "pods", "connections", "submitters"])
def test_rules_and_command_have_the_same_upper_limit(setting: str) -> None:
    option, (_least, most) = f"scale_test_{setting}", RANGES[setting]
    flow = PROJECT.flow("scale_test")
    given = {**SETTINGS, "clusters_sutest_compute_machineset_fit": False, "scale_test_connections": 0}

    def broken(number: int) -> list[str]:
        return [message for _rule, message in broken_rules(flow.rules, flow.settings, {**given, option: number})]

    assert broken(int(most)) == []
    assert [message.startswith(f"{option} must be ") for message in broken(int(most) + 1)] == [True]
