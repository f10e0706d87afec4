"""OpenMetrics text: every number round-trips with all its distinguishing labels."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner
from perfanalysis.cli import cli
from perfanalysis.workloads.kinds import shipped
from perfanalysis.workloads.kpis import Kpi, KpiValue, evaluate, metric_name, openmetrics
from perfanalysis.workloads.percentiles import Value
from perfanalysis.workloads.run_analysis import RunAnalysis, analyse_run
from prometheus_client.metrics_core import Metric
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from tests.data.synthetic_runs import Shape, write_run

RUNS = Path(__file__).resolve().parents[3] / "data" / "runs" / "v1"
NASTY = (
    'quoted "name"',
    "back\\slash",
    "two\nlines",
    "ends with \\",
    "\\n is no line",
    'comma, brace} and {brace="x"',
    "žluťoučký 日本 🐎",
    "",
    "# EOF",
)
NUMBERS = (0.0, -0.0, 0.1 + 0.2, 1e-320, 5e-324, 1.7976931348623157e308, -12345678901234567890.0, 1 / 3, 2.0**53 + 2)
Samples = dict[tuple[str, frozenset[tuple[str, str]]], float]


def families(text: str) -> list[Metric]:
    """Return the families by an independent parser, which raises if the text breaks a rule."""
    return list(text_string_to_metric_families(text))  # type: ignore[no-untyped-call]


def read(text: str) -> Samples:
    """Return the samples of all families, each of which is a gauge with help and unit."""
    found: Samples = {}
    for family in families(text):
        assert family.type == "gauge"
        assert family.documentation
        assert family.unit
        for sample in family.samples:
            key = sample.name, frozenset(sample.labels.items())
            assert key not in found
            found[key] = sample.value
    return found


def value_of(number: float | None, **changes: str) -> KpiValue:
    declared = {"name": "speed", "help": "how fast", "unit": "workloads/s", "direction": "higher", **changes}
    reason = "nothing was measured" if number is None else None
    kpi: Kpi[None] = Kpi(function=lambda _: Value(number, reason), **declared)  # type: ignore[arg-type]
    return evaluate([kpi], None)[0]


def test_openmetrics_text_of_a_run() -> None:
    first = ({"recording": 'a "quoted"\\name'}, (value_of(1.5), value_of(None, name="b")))
    second = ({"recording": "two\nlines"}, (value_of(2.0),))
    text = openmetrics([first, second], {"run": "r1"})
    assert text == (
        "# HELP psap_perf_speed_workloads_per_second how fast\n"
        "# TYPE psap_perf_speed_workloads_per_second gauge\n"
        "# UNIT psap_perf_speed_workloads_per_second workloads_per_second\n"
        'psap_perf_speed_workloads_per_second{recording="a \\"quoted\\"\\\\name",run="r1"} 1.5\n'
        'psap_perf_speed_workloads_per_second{recording="two\\nlines",run="r1"} 2.0\n'
        "# HELP psap_perf_b_workloads_per_second how fast\n"
        "# TYPE psap_perf_b_workloads_per_second gauge\n"
        "# UNIT psap_perf_b_workloads_per_second workloads_per_second\n"
        "# EOF\n"
    )


@pytest.mark.parametrize("text", NASTY)
def test_any_label_or_help_text_round_trips(text: str) -> None:
    value = value_of(1.0, help=text or "x")
    written = openmetrics([({"recording": text}, (value,))], {})
    (family,) = families(written)
    assert family.documentation == (text or "x")
    assert family.samples[0].labels == {"recording": text}


@pytest.mark.parametrize("number", NUMBERS)
def test_any_number_round_trips(number: float) -> None:
    (back,) = read(openmetrics([({}, (value_of(number),))], {})).values()
    assert repr(back) == repr(number)


def test_label_names_become_valid_and_stay_distinct() -> None:
    labels = {"a.b": "1", "a_b": "2", "0": "3", "__reserved": "4", "run": "of a cell", "": "5"}
    written = openmetrics([(labels, (value_of(1.0),))], {"run": "r"})
    ((_, found),) = read(written)
    assert dict(found) == {
        "run": "r",
        "a_b": "1",
        "a_b_": "2",
        "_0": "3",
        "_reserved": "4",
        "run_": "of a cell",
        "_": "5",
    }


def test_kpis_of_every_kind_yield_valid_text() -> None:
    for kind in shipped().all.values():
        values = [value_of(1.5, name=kpi.name, help=kpi.help, unit=kpi.unit) for kpi in kind.kpis]
        assert len(read(openmetrics([({"recording": "x"}, tuple(values))], {"run": "r"}))) == len(values)


def _numbers(result: RunAnalysis) -> list[tuple[str, float]]:
    return [
        (metric_name(value), value.number)
        for _, values in result.labelled_kpis()
        for value in values
        if value.number is not None
    ]


def test_run_of_several_recordings_round_trips(tmp_path: Path) -> None:
    shapes = [Shape(workloads=60, nodes=4), Shape(workloads=60, nodes=4, everything=True)]
    result = analyse_run(write_run(tmp_path, shapes), tmp_path / "report")
    text = openmetrics(result.labelled_kpis(), {"run": result.run.id, "flow": "scale_test"})
    assert sorted((name, number) for (name, _), number in read(text).items()) == sorted(_numbers(result))


@pytest.mark.parametrize("run", sorted(path.name for path in RUNS.iterdir() if path.is_dir()))
def test_stored_run_round_trips(tmp_path: Path, run: str) -> None:
    result = analyse_run(RUNS / run, tmp_path)
    text = openmetrics(result.labelled_kpis(), {"run": result.run.id, "flow": str(result.run.document.get("flow"))})
    assert sorted((name, number) for (name, _), number in read(text).items()) == sorted(_numbers(result))


def test_simulated_samples_are_marked(tmp_path: Path) -> None:
    (run,) = (path for path in RUNS.iterdir() if path.is_dir())
    done = CliRunner().invoke(cli, ["kpi", str(run), "--output", str(tmp_path), "--format", "openmetrics"])
    assert done.exit_code == 0
    assert {dict(labels)["lab"] for _, labels in read(done.output)} == {"simulated: nodes, pods, synthetic data"}
