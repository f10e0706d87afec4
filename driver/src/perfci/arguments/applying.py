"""Arguments of a pull request as the driver applies them: to the plan of a job, and for people to look at."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.documents import write_yaml
from ansible_collections.psap.perf.plugins.module_utils.settings.pull_request import VARIABLE
from perfdrv.ansible.request import json_vars
from perfdrv.errors import UsageError
from perfdrv.project import Project

from perfci.arguments.choosing import JobArguments, arguments_of
from perfci.arguments.conversation import read_conversation
from perfci.github import Access, PullRequest

FILE = "pull-arguments.yml"


def read_arguments(
    project: Project, pull: PullRequest, test: str, access: Access, settings: Mapping[str, Any]
) -> JobArguments:
    """The arguments that a pull request gives to the job `/test TEST` asks for.

    Args:
        settings: values of those that begin with `github_`.

    Raises:
        DriverError: GitHub does not answer, or refuses.
    """
    said = read_conversation(access, pull, settings)
    return arguments_of(said.description, said.comments, test, said.policy, project)


def require_sound(found: JobArguments) -> JobArguments:
    """The arguments, where nothing is wrong with them.

    Raises:
        UsageError: naming all problems, each with its place.
    """
    if found.problems:
        raise UsageError("\n".join(found.problems))
    return found


def agreed(found: JobArguments, flow: str | None, site: str | None) -> tuple[str | None, str | None]:
    """The flow and the site: those of the job, where it names any, else those of the pull request.

    Raises:
        UsageError: both name one, and not the same.
    """
    for what, own, said in (("project", flow, found.project), ("cluster", site, found.cluster)):
        if own is not None and said is not None and said[0] != own:
            raise UsageError(f"{said[1]}: /{what} {said[0]} asks this job for another {what} than its own, {own}.")
    return flow or (found.project[0] if found.project else None), site or (found.cluster[0] if found.cluster else None)


def extra_var(found: JobArguments, folder: Path) -> tuple[str, ...]:
    """Write what the pull request sets into a folder; returns what follows `-e` of ansible-playbook."""
    if not found.pull.presets and not found.pull.settings:
        return ()
    path = folder / FILE
    write_yaml(path, found.pull.document())
    return (json_vars({VARIABLE: str(path)}),)


def rows(found: JobArguments) -> list[tuple[str, Any, str]]:
    """What would be applied: (what, value, place)."""
    steps = [(f"{word} step", name, "") for word in ("skip", "only") for name in getattr(found.choice, word)]
    names = [(what, *said) for what, said in (("cluster", found.cluster), ("project", found.project)) if said]
    return [
        *(("preset", name, str(where)) for name, where in found.pull.presets),
        *((one.key, one.value, str(one.where)) for one in found.pull.settings),
        *steps,
        *((what, name, str(where)) for what, name, where in names),
    ]


def remarks(found: JobArguments) -> tuple[str, ...]:
    """The same as sentences, with what does not count and why."""
    applied = (f"{what}: {value} ({place})" if place else f"{what}: {value}" for what, value, place in rows(found))
    return (*(f"From the pull request: {each}" for each in applied), *found.remarks)
