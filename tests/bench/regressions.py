"""The certainty of regression verdicts and the time to read a history, compared with orion's engine.

python -m tests.bench.regressions [--seeds 2000] [--runs 1000] [--kpis 50]

Series: 30 runs around 100, normal noise of 3 %, a step before the last 1, 2 or 5 runs; a step is found if a change is
reported within one run of it. Seeds are fixed. The base figures are from apache-otava 0.8.0, its own package on a
machine of this kind: 100 seeds a step, 200 flat series.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np
from perfanalysis.results.history.documents import entries_of
from perfanalysis.results.history.folder import add, load
from perfanalysis.verdicts.regression.methods import change_points, scaled
from perfanalysis.verdicts.regression.verdict import Options, regress
from perfanalysis.verdicts.regression.watched import Acknowledged

from tests.unit.analysis.histories import document, kpi

LENGTH = 30
AFTER = (1, 2, 5)
BASE = {0.05: (7, 11, 41), 0.08: (23, 54, 86), 0.15: (87, 100, 99), 0.30: (99, 100, 100)}


def series(seed: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return a flat series with noise."""
    return np.random.default_rng(seed).normal(100, 3, LENGTH)


def is_found(seed: int, step: float, after: int, *, mended: bool = False) -> bool:
    """Return whether a step is reported within one run of its place; `mended`: five earlier runs were worse by half."""
    values = series(seed)
    if mended:
        values[10:15] *= 1.5
    values[LENGTH - after :] *= 1 + step
    return any(abs(split.at - (LENGTH - after)) <= 1 for split in change_points(scaled(values)))


def certainty(seeds: int) -> None:
    """Print how often flat series are flagged, and how often steps are found."""
    flagged = sum(bool(change_points(scaled(series(seed)))) for seed in range(seeds))
    print(f"flat series flagged: {flagged / seeds:.2%} of {seeds} (base 2.5 % of 200)")
    print("step found, in %, by runs after it (base in brackets)")
    for step, base in BASE.items():
        shares = [100 * sum(is_found(10**6 + seed, step, after) for seed in range(seeds)) / seeds for after in AFTER]
        texts = (f"{after}: {share:5.1f} ({known})" for after, share, known in zip(AFTER, shares, base, strict=True))
        print(f"  {step:4.0%}   {'   '.join(texts)}")
    print("the same where runs 11 to 15 were worse by half, which was mended")
    for step in BASE:
        shares = [
            100 * sum(is_found(10**6 + seed, step, after, mended=True) for seed in range(seeds)) / seeds
            for after in AFTER
        ]
        print(f"  {step:4.0%}   {'   '.join(f'{n}: {share:5.1f}' for n, share in zip(AFTER, shares, strict=True))}")


def speed(runs: int, kpis: int) -> None:
    """Print the time to read a history and to judge its last run by it."""
    noise = np.random.default_rng(1)
    with tempfile.TemporaryDirectory() as folder:
        for day in range(runs):
            points = [
                kpi(f"kpi_{number:03d}", float(value)) for number, value in enumerate(noise.normal(10, 0.3, kpis))
            ]
            add(Path(folder), document(day, points))
        began = time.perf_counter()
        history = load(Path(folder)).entries()
        read = time.perf_counter()
        newest = {name: point.number for name, point in history[-1].kpis.items()}
        last = entries_of(document(runs - 1, [kpi(name, value) for name, value in newest.items() if value is not None]))
        verdicts = regress(last, history, Options(), Acknowledged())
        ended = time.perf_counter()
    print(f"{runs} runs of {kpis} KPIs: read in {read - began:.2f} s (aim 2), judged in {ended - read:.2f} s")
    print(f"  verdicts: {verdicts.counts()}")


def main() -> None:
    """Run both."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=2000)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--kpis", type=int, default=50)
    asked = parser.parse_args()
    certainty(asked.seeds)
    speed(asked.runs, asked.kpis)


if __name__ == "__main__":
    main()
