"""Figures of the analysis that have an aim, in one table: point, what was measured, figure, aim, base.

    python tests/bench/analysis.py [--only 5 10 12 20] [--repeat N]

All inputs are synthetic. Each figure is the fastest of several whole processes, and the peak is the largest. The base
is what other tools needed for the same on a machine of this kind. CPU time is the steadier figure on a busy machine.
Nothing is asserted. The end lists the points that other programs measure.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.bench.whole_process import PERFANALYSIS, ROOT, output_of, quickest

OLD_SIZES = {1_000: ("0.9 s", "1.6 s"), 10_000: ("1.5 s", "3.2 s"), 50_000: ("3.0 s, 250 MB", "9.8 s, 218 MB")}
DATA_QUALITY = 5
ELSEWHERE = {
    "1, 2": "foreign_trees.py",
    "3, 4, 20": "fuzz.py",
    "15": "regressions.py",
    "17": "history.py",
}
"""Points → programs beside this one."""


@dataclass(frozen=True)
class Row:
    """A line of the table."""

    point: str
    what: str
    figure: str
    aim: str
    base: str


def old_tool(folder: Path, repeat: int) -> Iterator[Row]:
    """Point 5: a working directory of the scale-test-tool to both plots and times.csv."""
    for size, (aim, base) in OLD_SIZES.items():
        directory = output_of("tests.unit.analysis.old_tool", str(folder / str(size)), str(size))
        # one workload of the set was never sampled: exit code 5
        command = [*PERFANALYSIS, "plotter", directory, "--output", str(folder / "out"), "--csv-layout", "scale-test"]
        cost = quickest(command, repeat, accepted=(DATA_QUALITY,))
        yield Row("5", f"{size:,} workloads of the scale-test-tool: two plots, times.csv", cost.text, aim, base)


def large_run(folder: Path, repeat: int) -> Iterator[Row]:
    """Point 10: 100,000 pods with 200,000 events."""
    place, pods, events = output_of("tests.bench.analysis_scale", "--write", str(folder)).split()
    run = Path(place)
    report = [*PERFANALYSIS, "report", str(run)]
    cost = quickest(report, repeat, before=lambda: shutil.rmtree(run / "report", ignore_errors=True))
    what = f"{int(pods):,} pods, {int(events):,} events: report, empty cache"
    yield Row("10", what, cost.text, "20 s, 1000 MB", "4 n\u00b2 rows")


def many_plots(folder: Path, repeat: int) -> Iterator[Row]:
    """Point 12: a report of at least 15 plots."""
    options = ("--workloads", "300", "--everything")
    run = Path(output_of("tests.data.synthetic_runs", str(folder), *options))
    report = [*PERFANALYSIS, "report", str(run)]
    cost = quickest(report, repeat, before=lambda: shutil.rmtree(run / "report", ignore_errors=True))
    page = run / "report" / "index.html"
    plots, size = page.read_text().count("data-name="), page.stat().st_size / 1e6
    yield Row("12", f"report of {plots} plots", f"{cost.text}, page {size:.2f} MB", "5 s, 4 MB", "9.0 s, 60 MB")
    drawn = quickest([*report, "--png"], repeat)
    yield Row("12", "the same with PNG files", drawn.text, "\u2013", "\u2013")


def helps(folder: Path, repeat: int) -> Iterator[Row]:
    """Point 20: the slowest --help of all commands, and the program's own."""
    del folder
    names = output_of("tests.bench.command_names").splitlines()
    costs = {name: quickest([*PERFANALYSIS, *name.split(), "--help"], repeat) for name in ["", *names]}
    slowest = max(names, key=lambda name: costs[name])
    yield Row("20", "perfanalysis --help", costs[""].text, "0.6 s", "\u2013")
    yield Row("20", f"the slowest of {len(names)}: {slowest} --help", costs[slowest].text, "0.6 s", "\u2013")


def reference(folder: Path, repeat: int) -> Iterator[Row]:
    """Measure the current speed of this machine, to compare it with the base's."""
    del folder
    cost = quickest([sys.executable, "-c", "import matplotlib"], repeat)
    yield Row("\u2013", "import of matplotlib alone", cost.text, "\u2013", "0.26 s")


POINTS: dict[str, Callable[[Path, int], Iterator[Row]]] = {
    "5": old_tool,
    "10": large_run,
    "12": many_plots,
    "20": helps,
    "machine": reference,
}


def main() -> None:
    """Measure the selected points and print them as they come."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=POINTS, default=list(POINTS), help="points to measure")
    parser.add_argument("--repeat", type=int, default=3, help="repetitions; the fastest counts")
    given = parser.parse_args()
    print(f"load before: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    print("| point | measured | figure | aim | base |\n| --- | --- | --- | --- | --- |", flush=True)
    for point in given.only:
        with tempfile.TemporaryDirectory() as folder:
            for row in POINTS[point](Path(folder), given.repeat):
                print(f"| {row.point} | {row.what} | {row.figure} | {row.aim} | {row.base} |", flush=True)
    print(f"load after: {os.getloadavg()[0]:.1f}")
    for points, program in ELSEWHERE.items():
        if (ROOT / "tests" / "bench" / program).exists():
            print(f"points {points}: python tests/bench/{program}")


if __name__ == "__main__":
    main()
