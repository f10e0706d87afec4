"""The API server, folders, files and results of the scale test's verbs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ansible.errors import AnsibleError
from ansible_collections.psap.perf.plugins.module_utils.base.errors import PerfError, UsageError
from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.access import Access
from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.endpoint import ApiEndpoint
from ansible_collections.psap.perf.plugins.module_utils.run.environment import RunEnvironment
from ansible_collections.psap.perf.plugins.module_utils.scale_test.session.requests import Place
from ansible_collections.psap.perf.plugins.module_utils.scale_test.session.session import SessionEnd
from ansible_collections.psap.perf.plugins.plugin_utils.verb import VerbContext


def endpoint_of(context: VerbContext) -> ApiEndpoint:
    """Return the API server of the task's host.

    Raises:
        ClusterError: If none is configured.
    """
    return Access.from_variables(context.variables).endpoint(context.check_interrupted)


def place_of(context: VerbContext) -> Place:
    """Return the folders of the command, and the run that labels name, also in the process of one cell."""
    directory, environment = context.directory, RunEnvironment.read()
    return Place(
        run=environment.run,
        directory=str(directory.relative_to(environment.root)),
        source=directory / "src",
        artifacts=directory / "artifacts",
    )


def found_file(find: Callable[[str, str], str], folder: str, named: str) -> Path:
    """Return the file *named*.

    Args:
        find: Ansible's search for a name in a folder of the role, or a path.

    Raises:
        UsageError: If the file does not exist.
    """
    try:
        path = Path(find(folder, named))
    except AnsibleError as error:
        raise UsageError(f"file {named} does not exist") from error
    if not path.is_file():
        raise UsageError(f"{named} is not a file")
    return path


@contextmanager
def values(end: SessionEnd) -> Iterator[dict[str, Any]]:
    """Yield the values of a result; an error raised inside carries them, so that a failed task shows the accounts."""
    accounting = {key: value for key, value in end.accounting.document().items() if key != "schema"}
    outcome = {"accounting": accounting, "ended_by": end.ended_by, "seconds": end.progress.elapsed_s}
    try:
        yield outcome
    except PerfError as error:
        error.result = outcome
        raise
