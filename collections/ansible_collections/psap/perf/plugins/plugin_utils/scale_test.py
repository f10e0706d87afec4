"""What the verbs of the scale test take from their context, and give back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ansible.errors import AnsibleError
from ansible_collections.psap.perf.plugins.module_utils.base.clock import seconds
from ansible_collections.psap.perf.plugins.module_utils.base.errors import PerfError, UsageError
from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.access import Access
from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.endpoint import ApiEndpoint
from ansible_collections.psap.perf.plugins.module_utils.run.environment import RunEnvironment
from ansible_collections.psap.perf.plugins.module_utils.scale_test.control_plane.plan import MetricsSettings
from ansible_collections.psap.perf.plugins.module_utils.scale_test.session.requests import Place
from ansible_collections.psap.perf.plugins.module_utils.scale_test.session.session import SessionEnd
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads.inputs import positive_seconds
from ansible_collections.psap.perf.plugins.plugin_utils.verb import VerbContext


def endpoint_of(context: VerbContext) -> ApiEndpoint:
    """The API server of the task's host.

    :raises ClusterError: when none is configured.
    """
    return Access.from_variables(context.variables).endpoint(context.check_interrupted)


def place_of(context: VerbContext) -> Place:
    """Where the command works; in the process of one cell, too, the run is the whole one, as labels have it."""
    directory, environment = context.directory, RunEnvironment.read()
    return Place(
        run=environment.run,
        directory=str(directory.relative_to(environment.root)),
        source=directory / "src",
        artifacts=directory / "artifacts",
    )


def metrics_of(context: VerbContext) -> MetricsSettings:
    """What of the control plane's metrics is asked for.

    :raises UsageError: when that cannot be.
    """
    given = context.args["metrics"]
    return MetricsSettings(seconds(given["interval"]), given["endpoints"])


def timeout_of(context: VerbContext) -> float:
    """Seconds after which the recording ends.

    :raises UsageError: when it would end at once, or the text is no duration.
    """
    with naming("timeout"):
        return positive_seconds(context.args["timeout"])


def found_file(find: Callable[[str, str], str], folder: str, named: str) -> Path:
    """The file *named*, in the role's *folder* or a path, by Ansible's way to *find* it.

    :raises UsageError: when it is not there.
    """
    try:
        path = Path(find(folder, named))
    except AnsibleError as error:
        raise UsageError(f"there is no file {named}") from error
    if not path.is_file():
        raise UsageError(f"{named} is no file")
    return path


@contextmanager
def naming(argument: str) -> Iterator[None]:
    """Put the *argument* before what is said of its value."""
    try:
        yield
    except UsageError as error:
        raise UsageError(f"{argument}: {error}") from error


@contextmanager
def values(end: SessionEnd) -> Iterator[dict[str, Any]]:
    """The values of a result; an error raised inside carries them too, so that a failed task shows the accounts."""
    accounting = {key: value for key, value in end.accounting.document().items() if key != "schema"}
    outcome = {"accounting": accounting, "ended_by": end.ended_by, "seconds": end.progress.elapsed_s}
    try:
        yield outcome
    except PerfError as error:
        error.result = outcome
        raise
