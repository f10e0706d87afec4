# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ansible_collections.psap.perf.plugins.module_utils.base.awx_job import AwxJob
from ansible_collections.psap.perf.plugins.module_utils.base.documents import read_json
from ansible_collections.psap.perf.plugins.module_utils.base.errors import PerfError, UsageError, error_for_exit_code
from ansible_collections.psap.perf.plugins.module_utils.run.environment import RunEnvironment
from ansible_collections.psap.perf.plugins.module_utils.run.failures import Failure, failures_of
from ansible_collections.psap.perf.plugins.module_utils.secrets.leaks import credentials_of_environment, scan_directory
from ansible_collections.psap.perf.plugins.module_utils.secrets.references import remembered_values
from ansible_collections.psap.perf.plugins.modules.conclude import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.argument_specs import argument_spec
from ansible_collections.psap.perf.plugins.plugin_utils.verb import PerfAction, VerbContext, VerbResult


@dataclass(frozen=True, slots=True)
class Arguments:
    expect_commands: bool


class ActionModule(PerfAction):
    """Raise the first failure, search for secrets, and refuse an empty run."""

    ARGUMENTS = argument_spec(DOCUMENTATION)

    def perform(self, context: VerbContext) -> VerbResult:
        """Conclude the run."""
        attempt = RunEnvironment.read().attempt
        _refuse_leaked_secrets(context)
        failures = failures_of(context.run_directory, attempt)
        if failures:
            run = context.run_directory if AwxJob.read(context.variables) else None
            raise error_for_exit_code(failures[0].exit_code, _summary(failures, run))
        commands = sum(1 for _status in _commands(context.run_directory, attempt))
        # a later attempt may only delete what the first one left
        if not commands and attempt == 1 and context.arguments(Arguments).expect_commands:
            raise UsageError("no command ran: the given tags select none; list the tags with --list-tags")
        return VerbResult(values={"commands": commands})


def _summary(failures: list[Failure], temporary: Path | None) -> str:
    """Return a sentence about the failures.

    Args:
        temporary: The run directory if it is deleted with the job: paths are then relative, as in the export.
    """
    first, *others = failures
    text = f"{first.what}: {first.why}"
    if first.directory:
        shown = Path(first.directory)
        text += f" (see {shown.relative_to(temporary) if temporary else shown})"
    following = [failure.what for failure in others if not failure.interrupted and failure.directory != first.directory]
    return f"{text}; after it failed: {', '.join(following)}" if following else text


def _commands(run: Path, attempt: int) -> Iterator[Path]:
    for path in run.rglob("status.json"):
        if read_json(path).get("attempt") == attempt:
            yield path


def _refuse_leaked_secrets(context: VerbContext) -> None:
    run = context.run_directory
    hits = scan_directory(run, [*remembered_values(run, context.vaulted), *credentials_of_environment()])
    if hits:
        places = ", ".join(sorted({f"{hit.path.relative_to(run)}:{hit.line}" for hit in hits})[:5])
        raise PerfError(f"plain-text secret found in the run directory: {places}; remove it before you share the run")
