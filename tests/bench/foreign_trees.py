"""Result trees of MatrixBenchmarking from the other tool's files to tables: points 1 and 2 of the analysis.

    python tests/bench/foreign_trees.py [--repeat N]

The trees are synthetic. Each figure is the fastest of several whole processes, and the peak is the largest. `parse`
corresponds to the other tool's `parse`: cold, without kept tables, and warm. The first row measures the current speed
of the machine. Nothing is asserted.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.bench.whole_process import PERFANALYSIS, Cost, output_of, quickest

SIZES = {
    (1, 10_000): {"cold": ("1.5 s, 250 MB", "15.0 s, 460 MB"), "warm": ("\u2013", "1.7 s, 181 MB")},
    (100, 100): {"cold": ("2.0 s", "12.5 s, 148 MB"), "warm": ("0.8 s", "2.0 s, 147 MB")},
}
"""Tests and jobs of each, with the aim and the base of a cold and of a warm parse."""
NONE = ("\u2013", "\u2013")


def rows(folder: Path, tests: int, jobs: int, repeat: int, reports: bool) -> Iterator[tuple[str, Cost, str, str]]:
    """Yield each step with its cost, aim and base."""
    tree = Path(output_of("tests.data.result_trees", str(folder / "tree"), "--tests", str(tests), "--jobs", str(jobs)))
    run, tables, kept = folder / "run", folder / "run/report", SIZES[tests, jobs]

    def command(*words: str) -> list[str]:
        return [*PERFANALYSIS, *words]

    taken_in = quickest(
        command("import", "matrixbenchmarking", str(tree), "--into", str(run)), repeat, before=lambda: delete(run)
    )
    yield "import", taken_in, *NONE
    cold = quickest(command("parse", str(run)), repeat, before=lambda: delete(tables))
    yield "parse, cold", cold, *kept["cold"]
    both = Cost(taken_in.wall_s + cold.wall_s, taken_in.cpu_s + cold.cpu_s, max(taken_in.peak_mb, cold.peak_mb))
    yield "import and cold parse together", both, *kept["cold"]
    yield "parse, warm", quickest(command("parse", str(run)), repeat), *kept["warm"]
    yield "kpi, warm", quickest(command("kpi", str(run)), repeat), *NONE
    if reports:
        yield "report, cold", quickest(command("report", str(run)), 1, before=lambda: delete(tables)), *NONE


def delete(folder: Path) -> None:
    """Delete the output of an earlier process."""
    shutil.rmtree(folder, ignore_errors=True)


def main() -> None:
    """Measure and print as results come."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=3, help="repetitions; the fastest counts")
    parser.add_argument("--reports", action="store_true", help="reports too, which draw every plot of every test")
    given = parser.parse_args()
    print(f"load before: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    print("| tests \u00d7 jobs | what | figure | aim | base |\n| --- | --- | --- | --- | --- |", flush=True)
    reference = quickest([sys.executable, "-c", "import matplotlib"], given.repeat)
    print(f"| \u2013 | import of matplotlib alone | {reference.text} | \u2013 | 0.26 s |", flush=True)
    for tests, jobs in SIZES:
        with tempfile.TemporaryDirectory() as folder:
            for what, cost, aim, base in rows(Path(folder), tests, jobs, given.repeat, given.reports):
                print(f"| {tests} \u00d7 {jobs:,} | {what} | {cost.text} | {aim} | {base} |", flush=True)
    print(f"load after: {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
