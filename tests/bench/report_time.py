"""The time and memory of a report, for synthetic scale tests of several sizes.

Prints a table and asserts nothing. Each report is a process: `perfanalysis report`, from start to end, with an empty
cache and then with the tables of the first.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.bench.whole_process import PERFANALYSIS, output_of, quickest

GENERATOR = "tests.data.synthetic_runs"
SIZES = (1_000, 10_000, 50_000)


def write_run_in_child(folder: Path, size: int, *, everything: bool) -> Path:
    """Write a run of this many workloads in a child process; return its directory.

    A child's peak memory counts its parent's at the time of the fork, so this process must stay small.
    """
    options = ["--workloads", str(size), "--nodes", str(max(size // 10, 10)), "--rate", "300", "--schedule-rate", "250"]
    options += ["--everything"] if everything else []
    return Path(output_of(GENERATOR, str(folder), *options))


def main() -> None:
    """Write the runs, report on them, print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=3, help="reports of each kind; the fastest counts")
    parser.add_argument("--everything", action="store_true", help="with queues, preemption, churn, metrics and so on")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="workloads")
    given = parser.parse_args()
    print(f"{'workloads':>9} {'cache':>6} {'wall s':>7} {'CPU s':>6} {'peak MB':>8} {'page kB':>8} {'input MB':>9}")
    with tempfile.TemporaryDirectory() as folder:
        for size in given.sizes:
            run = write_run_in_child(Path(folder) / str(size), size, everything=given.everything)
            report = run / "report"
            inputs = sum(path.stat().st_size for path in run.rglob("*.json*")) / 1e6
            for cache in ("empty", "full"):
                before = partial(shutil.rmtree, report, ignore_errors=True) if cache == "empty" else None
                cost = quickest([*PERFANALYSIS, "report", str(run)], given.repeat, before=before)
                page = (report / "index.html").stat().st_size / 1000
                columns = f"{cost.wall_s:>7.2f} {cost.cpu_s:>6.2f} {cost.peak_mb:>8.0f} {page:>8.0f} {inputs:>9.1f}"
                print(f"{size:>9} {cache:>6} {columns}")


if __name__ == "__main__":
    main()
