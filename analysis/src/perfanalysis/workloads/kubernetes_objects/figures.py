"""Figures of pods and jobs as a whole, for the KPIs of declared kinds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from perfanalysis.workloads.percentiles import Value
from perfanalysis.workloads.step_series import count_between

if TYPE_CHECKING:
    import pandas as pd


class Tables(Protocol):
    """Tables of `frames.tables_of`."""

    @property
    def pods(self) -> pd.DataFrame:
        """One row per pod."""

    @property
    def jobs(self) -> pd.DataFrame:
        """One row per job."""

    @property
    def tests(self) -> pd.DataFrame:
        """The only test."""


def most_pods(tables: Tables) -> Value:
    """Return the largest number of pods that were bound to nodes concurrently."""
    return _most(tables.pods, "scheduled_s", "no pod states when it was bound to a node")


def most_jobs(tables: Tables) -> Value:
    """Return the largest number of jobs that ran concurrently, without parts of other jobs."""
    return _most(whole_jobs(tables), "started_s", "no job states when it started")


def _most(frame: pd.DataFrame, begin: str, missing: str) -> Value:
    begun = frame[frame[begin].notna()]
    if not len(begun):
        return Value(None, missing)
    series = count_between(begun[begin].to_numpy(dtype=float), begun["finished_s"].to_numpy(dtype=float))
    return Value(series.maximum(), count=len(begun))


def jobs_finished_per_s(tables: Tables) -> Value:
    """Return finished jobs, divided by the time from the first creation to the last end."""
    jobs = whole_jobs(tables)
    done = jobs["finished_s"].dropna()
    if not len(done) or jobs["created_s"].isna().all():
        return Value(None, "no job finished")
    lasted = float(done.max() - jobs["created_s"].min())
    if lasted <= 0:
        return Value(None, "all jobs were created and finished within one second, the resolution of the timestamps")
    return Value(len(done) / lasted, count=len(done))


def creation_span(tables: Tables) -> Value:
    """Return the time from the first job's creation to the last one's."""
    return _span(whole_jobs(tables), "created_s", "created_s", "no job states when it was created")


def scheduling_span(tables: Tables) -> Value:
    """Return the time from the first pod's creation to the last binding to a node."""
    return _span(tables.pods, "created_s", "scheduled_s", "no pod states when it was bound to a node")


def makespan(tables: Tables) -> Value:
    """Return the time from the first job's creation to the last job's end; None while any has not ended."""
    jobs = whole_jobs(tables)
    left = int(jobs["finished_s"].isna().sum())
    if left:
        return Value(None, f"{left} jobs had not ended")
    return _span(jobs, "created_s", "finished_s", "there are no jobs")


def _span(frame: pd.DataFrame, begin: str, end: str, missing: str) -> Value:
    begins, ends = frame[begin].dropna(), frame[end].dropna()
    if not len(begins) or not len(ends):
        return Value(None, missing)
    return Value(float(ends.max() - begins.min()), count=len(ends))


def whole_jobs(tables: Tables) -> pd.DataFrame:
    """Return the jobs that are not part of another one in the table."""
    jobs: Any = tables.jobs
    whole: pd.DataFrame = jobs[jobs["whole"]]
    return whole


def test_length(tables: Tables) -> Value:
    """Return the time from the start of the test to its end, as the test itself marked them."""
    return _span(tables.tests, "started_s", "ended_s", "start and end of the test are not marked")
