"""The figure of a test in several passes: each job beside the others against the same job alone."""

from __future__ import annotations

from statistics import median

import numpy as np

from perfanalysis.drawing.charts import Axis, Chart, Figure, Layer
from perfanalysis.workloads.fine_tuning.job import PHASE, REFERENCE
from perfanalysis.workloads.fine_tuning.scaling import JobInMatrix, varying

RATE_UNITS = {"tokens_per_second": "tokens/s", "samples_per_second": "samples/s"}
"""The rates that jobs are drawn by: the first that any has."""
MOST_ROWS = 24


def phases_figure(jobs: tuple[JobInMatrix, ...]) -> Figure | None:
    """Throughput of every setup in each phase; None unless some setup was trained in several."""
    of_phases = tuple(job for job in jobs if job.phase is not None)
    setups: dict[tuple[str, int | None], list[JobInMatrix]] = {}
    for job in of_phases:
        setups.setdefault((job.without(PHASE).group, job.gpus), []).append(job)
    compared = [members for members in setups.values() if len({job.phase for job in members}) > 1]
    rate = next((name for name in RATE_UNITS if any(job.number(name) is not None for job in of_phases)), None)
    if not compared or rate is None:
        return None
    phases = sorted({str(job.phase) for job in of_phases}, key=lambda phase: (phase != REFERENCE, phase))
    shown = compared[:MOST_ROWS]
    layers = tuple(_bars(shown, phase, place, len(phases), rate) for place, phase in enumerate(phases))
    names = tuple(_name(members, of_phases) for members in shown)
    throughput = Axis("throughput", RATE_UNITS[rate], low=0.0)
    height = 100 + max(34, 16 * len(phases)) * len(names)
    chart = Chart("Throughput of a job", throughput, Axis("", categories=names), layers, height=height)
    caption = "Jobs equal but for their phase; the median where a phase has several of them."
    return Figure("phases", "Beside other jobs and alone", caption, ((chart,),))


def _bars(setups: list[list[JobInMatrix]], phase: str, place: int, phases: int, rate: str) -> Layer:
    width = 0.8 / phases
    rows, values = [], []
    for row, members in enumerate(setups):
        numbers = [number for job in members if job.phase == phase and (number := job.number(rate)) is not None]
        if numbers:
            rows.append(row - 0.4 + width * (place + 0.5))
            values.append(median(numbers))
    return Layer("sidebars", phase, np.array(values, dtype=float), np.array(rows, dtype=float), place, width=width)


def _name(members: list[JobInMatrix], jobs: tuple[JobInMatrix, ...]) -> str:
    """The model, and what else tells a setup from the others."""
    first = members[0]
    different = [name for name in varying(jobs) if name not in (PHASE, "model")]
    parts = [str(first.setup.get("model") or "unknown"), *(f"{name} {first.setup.get(name)}" for name in different)]
    if len({job.gpus for job in jobs}) > 1:
        parts.append(f"{first.gpus} GPU{'' if first.gpus == 1 else 's'}")
    return ", ".join(parts)
