"""KPIs that query files declare: their windows, their statistics, and their use in thresholds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.psap.perf.plugins.module_utils.prometheus.query_file import read_files
from perfanalysis.verdicts.thresholds.threshold import declared_measures, parse_thresholds
from perfanalysis.verdicts.thresholds.verdict import judge
from perfanalysis.workloads.kinds import shipped
from perfanalysis.workloads.prometheus import declared_kpis
from perfanalysis.workloads.prometheus.declared_kpis import metric_kpis_of, shipped_metric_kpis
from perfanalysis.workloads.run_analysis import RunAnalysis, analyse_run

from tests.data.fine_tuning_runs import Training, write_tuning_run
from tests.data.prometheus_windows import Series, write_window
from tests.data.synthetic_runs import EPOCH

FILES = Path(__file__).parents[4] / "collections/ansible_collections/psap/perf/roles/cluster_query_prometheus_db/files"
LISTED = Path(declared_kpis.__file__).parent / "shipped_queries.yml"


def declared_by_files() -> dict[str, dict[str, list[str]]]:
    """Return the statistics of each shipped query that has KPIs, by its direction."""
    queries = read_files(sorted(FILES.glob("*.txt")), ".*")
    return {one.name: {one.direction: list(one.statistics)} for one in queries if one.statistics}


def test_list_of_the_analysis_equals_the_query_files() -> None:
    declared = declared_by_files()
    assert yaml.safe_load(LISTED.read_text()) == declared, "write yaml.safe_dump(declared_by_files()) to the list"
    names = [kpi.name for kpi in shipped_metric_kpis()]
    assert len(names) == len(set(names)) == sum(len(one) for each in declared.values() for one in each.values())
    own = {kpi.name for kind in shipped().all.values() for kpi in kind.kpis}
    assert not own & set(names)


@pytest.mark.parametrize(
    ("query", "statistic", "name", "unit", "factor"),
    [
        ("gpu_all_power_watts", "integral", "gpu_all_power_integral", "Wh", 1 / 3600),
        ("operators_cpu_usage_cores", "integral", "operators_cpu_usage_integral", "CPU-seconds", 1.0),
        ("server_output_tokens_per_second", "integral", "server_output_tokens_integral", "tokens", 1.0),
        ("server_waiting_requests", "max", "server_waiting_requests_max", "requests", 1.0),
        ("gpu_all_memory_used_mebibytes", "mean", "gpu_all_memory_used_mean", "bytes", 2.0**20),
        ("server_window_ttft_p95_seconds", "value", "server_window_ttft_p95", "seconds", 1.0),
    ],
)
def test_name_and_unit_follow_from_the_query(query: str, statistic: str, name: str, unit: str, factor: float) -> None:
    (found,) = metric_kpis_of(query, [statistic], "lower")
    assert (found.name, found.unit, found.factor) == (name, unit, factor)


@pytest.mark.parametrize(("query", "statistic"), [("mine", "mean"), ("used_bytes", "integral")])
def test_kpi_without_a_unit_is_refused(query: str, statistic: str) -> None:
    with pytest.raises(ValueError, match="unit"):
        metric_kpis_of(query, [statistic], "lower")


def _declare(window: Path, **declared: dict[str, Any]) -> None:
    """Add the KPIs of queries to a window."""
    path = window / "prometheus_queries.yml"
    document = yaml.safe_load(path.read_text())
    for query in document["queries"]:
        query |= declared.get(query["name"], {})
    path.write_text(json.dumps(document))


def _run(tmp_path: Path) -> RunAnalysis:
    run = write_tuning_run(tmp_path / "run", [Training()])
    begin = EPOCH
    watts = Series({"cluster": "a"}, [90.0] * 10_000, begin - 100)
    names = {"power_watts": [watts], "p95_seconds": [Series({}, [2.5], begin + 3000)], "mine": [watts]}
    window = run / "001__cell__0/009__cluster__query_prometheus_db/artifacts"
    write_window(window, (begin - 100, begin + 20_000), names)
    statistics = {"statistics": ["mean", "max", "integral"], "direction": "lower"}
    _declare(
        window, power_watts=statistics, mine=statistics, p95_seconds={"statistics": ["value"], "direction": "lower"}
    )
    return analyse_run(run, tmp_path / "out")


def test_kpis_are_those_of_the_time_of_the_recording(tmp_path: Path) -> None:
    (analysis,) = _run(tmp_path).analyses
    assert analysis.period is not None
    found = {kpi.name: kpi for kpi in analysis.kpis}
    length_s = analysis.period[1] - analysis.period[0]
    assert found["power_mean"].number == found["power_max"].number == 90.0
    assert found["power_integral"].unit == "Wh"
    assert found["power_integral"].number == pytest.approx(90.0 * length_s / 3600, abs=0.2)
    assert (found["p95"].number, found["p95"].unit, found["p95"].direction) == (2.5, "seconds", "lower")
    assert not any(name.startswith("mine") for name in found)


def test_shipped_kpi_is_judged_where_it_was_measured(tmp_path: Path) -> None:
    run = _run(tmp_path)
    known = declared_measures(shipped())
    thresholds = parse_thresholds({"operators_cpu_usage_mean": "2", "server_window_ttft_p95": "200ms"}, known)
    assert judge(run, thresholds, unjudged_allowed=True).of("not judged") == (
        "operators_cpu_usage_mean <= 2: not measured in this recording",
        "server_window_ttft_p95 <= 200ms: not measured in this recording",
    )
