"""The users of the flow pipelines as lanes, and their projects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError


@dataclass(frozen=True, slots=True)
class PipelinesPlan:
    """The lanes and projects of the cell.

    Attributes:
        lanes: The names of the lanes of each region of the cell.
        namespaces: The projects.
        projects: The project of each user, by the lane's name.
        runs_per_user: The number of runs that each user requests.
    """

    lanes: Mapping[str, Sequence[str]]
    namespaces: tuple[str, ...]
    projects: Mapping[str, str]
    runs_per_user: int


def pipelines_plan(settings: Mapping[str, Any], cells: int, forks: int) -> PipelinesPlan:
    """Return the plan for the flow's *settings*.

    Args:
        cells: The number of cells of the matrix.
        forks: How many tasks Ansible runs concurrently.

    Raises:
        UsageError: If there are several cells, or more users than forks.
    """
    users: int = settings["pipelines_users"]
    if cells > 1:
        raise UsageError(
            f"the flow pipelines has one cell, but the settings make {cells}; remove the lists of dimensions"
        )
    if users > forks:
        raise UsageError(
            f"pipelines_users: each user needs a fork of Ansible, {users}, but it has {forks} forks; allow more with "
            "ANSIBLE_FORKS"
        )
    namespaces = tuple(f"{settings['pipelines_namespace']}-n{each}" for each in range(settings["pipelines_projects"]))
    lanes = [f"u{user}" for user in range(users)]
    projects = {lane: namespaces[user % len(namespaces)] for user, lane in enumerate(lanes)}
    return PipelinesPlan(
        {"user": lanes}, namespaces, projects, settings["pipelines_per_user"] * settings["pipelines_runs"]
    )
