"""The time to write the site of a history, and its size.

python -m tests.bench.history_site [--runs 1000] [--kpis 50]

Runs of two flows with normal noise of 3 %, a step of 20 % in one KPI and of 30 % in the newest run of another.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import numpy as np
from perfanalysis.results.history.folder import add
from perfanalysis.verdicts.site.page import FILE

from tests.bench.whole_process import PERFANALYSIS, cost_of
from tests.unit.analysis.histories import document, kpi

AIM_S, AIM_MB = 3.0, 5.0


def write_history(folder: Path, runs: int, kpis: int) -> None:
    """Write a history of so many runs with so many KPIs each."""
    noise = np.random.default_rng(1)
    for day in range(runs):
        values = noise.normal(10, 0.3, kpis)
        values[0] *= 1.2 if day > runs / 2 else 1.0
        values[1] *= 1.3 if day == runs - 1 else 1.0
        points = [kpi(f"kpi_{number:03d}", float(value)) for number, value in enumerate(values)]
        add(folder, document(day, points, flow=("scale_test", "kserve")[day % 2]))


def main() -> None:
    """Measure the command in another process."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--kpis", type=int, default=50)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as root:
        history, target = Path(root, "history"), Path(root, "site")
        write_history(history, asked.runs, asked.kpis)
        cost = cost_of([*PERFANALYSIS, "history", "site", str(history), "--to", str(target)])
        size = (target / FILE).stat().st_size / 1e6
    print(f"{asked.runs} runs of {asked.kpis} KPIs: {cost.text} (aim {AIM_S:g} s)")
    print(f"  page: {size:.2f} MB (aim {AIM_MB:g})")


if __name__ == "__main__":
    main()
