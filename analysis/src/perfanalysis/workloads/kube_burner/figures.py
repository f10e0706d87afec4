"""What is computed of a job's tables as a whole."""

from __future__ import annotations

from typing import Any

from perfanalysis.workloads.kpis import Value


def creation_rate(tables: Any) -> Value:
    """Pods created a second: those after the first, over the time from the first creation to the last.

    kube-burner's times of creation are whole seconds.
    """
    created = tables.pods["created_s"].dropna()
    took = float(created.max() - created.min()) if len(created) else 0.0
    if took <= 0:
        return Value(None, "it needs pods of two moments")
    return Value((len(created) - 1) / took, count=len(created))


def iteration_rate(tables: Any) -> Value:
    """Iterations a second, over the whole length of the jobs."""
    jobs = tables.jobs
    known = jobs["iterations"].notna() & jobs["elapsed_s"].notna()
    took = float(jobs.loc[known, "elapsed_s"].sum())
    if took <= 0:
        return Value(None, "the summary does not tell iterations and elapsed time")
    return Value(float(jobs.loc[known, "iterations"].sum()) / took)
