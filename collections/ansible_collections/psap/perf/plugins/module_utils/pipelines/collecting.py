"""All runs of the users of a test, from the documents of their commands."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from ansible_collections.psap.perf.plugins.module_utils.base.arguments import convert
from ansible_collections.psap.perf.plugins.module_utils.base.documents import read_json
from ansible_collections.psap.perf.plugins.module_utils.pipelines.document import FILE, PipelineRun


def collected_runs(cell: Path, projects: Sequence[str], runs_per_user: int) -> tuple[PipelineRun, ...]:
    """Return the runs of all users, in the order of the users and of their numbers.

    Args:
        cell: The directory of the cell, with the directories of the commands below.
        projects: The project of each user.
        runs_per_user: How many runs each user was to request; a run without a document was not requested.

    Raises:
        PerfError: If a document is damaged.
    """
    documents = [read_json(path) for path in sorted(cell.glob(f"*/**/{FILE}"))]
    return complete((convert(run, PipelineRun) for each in documents for run in each["runs"]), projects, runs_per_user)


def complete(runs: Iterable[PipelineRun], projects: Sequence[str], runs_per_user: int) -> tuple[PipelineRun, ...]:
    """Return *runs* and those that a user did not request, as failed."""
    known: Mapping[tuple[int, int], PipelineRun] = {(run.user, run.number): run for run in runs}
    return tuple(
        known.get((user, number)) or _not_requested(user, project, number)
        for user, project in enumerate(projects)
        for number in range(1, runs_per_user + 1)
    )


def _not_requested(user: int, project: str, number: int) -> PipelineRun:
    message = "not requested: the commands of the user failed before"
    return PipelineRun(user, project, f"user{user}-run{number}", number, "Error", message=message)
