"""The time that the judgement by a history adds to a run, by the number of runs in the history.

python -m tests.bench.loop_time [--runs 500] [--workloads 300]

Prints a table and asserts nothing. The history is a folder. The judgement runs in the process that made the report, as
in `perfdrv run`; the fastest of three counts.
"""

# ruff: noqa: E402 - the collection can be imported after activate() only

from __future__ import annotations

import argparse
import contextlib
import io
import resource
import tempfile
import time
from pathlib import Path

from perfanalysis.reports.writing import make_report
from perfanalysis.results.history.documents import history_document
from perfanalysis.results.history.folder import add
from perfanalysis.workloads.run_analysis import analyse_run
from perfdrv.collection import activate

PROJECT = Path(__file__).resolve().parents[2]
activate(PROJECT)

from perfci.judging.judge import judge

from tests.data.synthetic_runs import Shape, write_run
from tests.unit.perfci.judging.conftest import nights, set_up


def seconds(run: Path, **settings: object) -> tuple[float, float]:
    """Return wall and CPU seconds of a judgement, the fastest of three."""
    set_up(run, **settings)
    found = []
    for _ in range(3):
        began, cpu = time.perf_counter(), time.process_time()
        with contextlib.redirect_stdout(io.StringIO()):
            judge(run, pull_request=False)
        found.append((time.perf_counter() - began, time.process_time() - cpu))
    return min(found)


def main() -> None:
    """Write a run and histories, judge, print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--workloads", type=int, default=300)
    given = parser.parse_args()
    print(f"{'runs':>6} {'KPIs':>5} {'MB':>6} {'report':>7} {'wall s':>7} {'CPU s':>6}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run = write_run(folder / "runs", [Shape(workloads=given.workloads)])
        make_report(run)
        pattern = history_document(analyse_run(run, run / "report"))
        kpis = sum(len(recording["kpis"]) for recording in pattern["recordings"])
        for number in (10, given.runs):
            history = folder / f"history-{number}"
            for document in nights(pattern, number):
                add(history, document)
            size = sum(path.stat().st_size for path in history.iterdir()) / 1e6
            for report in (False, True):
                wall, cpu = seconds(run, history_source=str(history), report_enabled=report)
                print(f"{number:>6} {kpis:>5} {size:>6.1f} {report!s:>7} {wall:>7.2f} {cpu:>6.2f}")
    print(f"peak memory of the process: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


if __name__ == "__main__":
    main()
