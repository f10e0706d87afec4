"""The detection of the CI system that started this process."""

from __future__ import annotations

import os
from collections.abc import Mapping

from perfanalysis.errors import AnalysisError
from perfanalysis.extensions import load_entry_points
from perfdrv.errors import DriverError

from perfci.jobs.job import Job, System
from perfci.jobs.systems.github_actions import GitHubActions
from perfci.jobs.systems.jenkins import Jenkins
from perfci.jobs.systems.prow import Prow
from perfci.jobs.systems.shell import Shell

# the first system that recognizes the environment is used, those of other packages first; Shell recognizes any
GROUP = "perfci.systems"
SYSTEMS: tuple[System, ...] = (Prow(), GitHubActions(), Jenkins(), Shell())


def detect(environment: Mapping[str, str] | None = None) -> tuple[System, Job]:
    """Return the CI system and the job of an environment, by default this process's.

    Raises:
        UsageError: The environment is not what the system documents.
        DriverError: A system of another package cannot be loaded.
    """
    given = os.environ if environment is None else environment
    try:
        added = load_entry_points(GROUP, System).values()
    except AnalysisError as error:
        raise DriverError(str(error)) from error
    system = next(each for each in (*added, *SYSTEMS) if each.is_here(given))
    return system, system.job(given)
