"""Arguments of a pull request: reading, applying to a job, showing."""

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
    """Return the arguments that a pull request sets for the job that `/test TEST` requests.

    Args:
        settings: Values of the settings that begin with `github_`.

    Raises:
        DriverError: GitHub does not answer, or refuses.
    """
    texts = read_conversation(access, pull, settings)
    return arguments_of(texts.description, texts.comments, test, texts.policy, project)


def require_valid(found: JobArguments) -> JobArguments:
    """Return the arguments, if they have no problems.

    Raises:
        UsageError: There are problems; the message lists all of them with their places.
    """
    if found.problems:
        raise UsageError("\n".join(found.problems))
    return found


def agreed_target(found: JobArguments, flow: str | None, site: str | None) -> tuple[str | None, str | None]:
    """Return the flow and the site of the job, or those of the pull request if the job has none.

    Raises:
        UsageError: Both have one, and they differ.
    """
    for what, own, asked in (("project", flow, found.project), ("cluster", site, found.cluster)):
        if own is not None and asked is not None and asked[0] != own:
            raise UsageError(f"{asked[1]}: /{what} {asked[0]} conflicts with the {what} of this job, {own}")
    return flow or (found.project[0] if found.project else None), site or (found.cluster[0] if found.cluster else None)


def extra_var(found: JobArguments, folder: Path) -> tuple[str, ...]:
    """Write the settings of the pull request into a folder; return what follows `-e` of ansible-playbook."""
    if not found.pull.presets and not found.pull.settings:
        return ()
    path = folder / FILE
    write_yaml(path, found.pull.document())
    return (json_vars({VARIABLE: str(path)}),)


def rows(found: JobArguments) -> list[tuple[str, Any, str]]:
    """Return each argument as (kind, value, place)."""
    steps = [(f"{word} step", name, "") for word in ("skip", "only") for name in getattr(found.choice, word)]
    names = [(what, *asked) for what, asked in (("cluster", found.cluster), ("project", found.project)) if asked]
    return [
        *(("preset", name, str(where)) for name, where in found.pull.presets),
        *((one.key, one.value, str(one.where)) for one in found.pull.settings),
        *steps,
        *((what, name, str(where)) for what, name, where in names),
    ]


def remarks(found: JobArguments) -> tuple[str, ...]:
    """Return the arguments as sentences, and the texts that do not count."""
    applied = (f"{what}: {value} ({place})" if place else f"{what}: {value}" for what, value, place in rows(found))
    return (*(f"from the pull request: {each}" for each in applied), *found.remarks)
