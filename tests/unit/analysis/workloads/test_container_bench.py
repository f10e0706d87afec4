"""The kind of the flow container_bench: its KPIs of three runs, computed by hand."""

from __future__ import annotations

import json
from pathlib import Path

from perfanalysis.workloads.run_analysis import analyse_run

from tests.data.container_benchmarks import container_benchmark
from tests.schemas import check

PLACE = "001__cell__0/001__container_bench__iperf_net_host_benchmark/artifacts"


def test_failed_run_has_no_time_and_rates_are_in_bytes(tmp_path: Path) -> None:
    artifacts = tmp_path / PLACE
    artifacts.mkdir(parents=True)
    document = container_benchmark(3)
    check(document)
    (artifacts / "container_benchmark.yml").write_text(json.dumps(document))
    (analysis,) = analyse_run(tmp_path, tmp_path / "out").analyses
    found = {value.name: value.number for value in analysis.kpis}
    assert (found["run_time_p50"], found["run_time_max"], found["runs_done"]) == (2, 3, 3)
    assert (found["throughput"], found["run_cpu"], found["read_throughput"]) == (1e9, 0.75, None)
    assert dict(analysis.facts)["mode"] == "rootless"
