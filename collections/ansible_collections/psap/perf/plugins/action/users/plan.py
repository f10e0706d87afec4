# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ansible_collections.psap.perf.plugins.module_utils.base.clock import Seconds
from ansible_collections.psap.perf.plugins.module_utils.base.credentials import hide
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.users.plan import ExportPlan, UsersPlan, check_plan, words
from ansible_collections.psap.perf.plugins.modules.users.plan import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.argument_specs import argument_spec
from ansible_collections.psap.perf.plugins.plugin_utils.verb import PerfAction, VerbContext, VerbResult

# for artifacts after the last command
_TRANSFER_S = 900.0


@dataclass(frozen=True, slots=True)
class ExportArguments:
    bucket: str
    endpoint: str
    region: str
    prefix: str
    secret_name: str


@dataclass(frozen=True, slots=True)
class Arguments:
    job: str
    namespace: str
    count: int
    ci_command: str
    setup_command: str
    user_prefix: str
    namespace_prefix: str
    seed: int | None
    batch_size: int
    batch_delay: Seconds
    ready_within: Seconds
    timeout: Seconds
    abort_on_failure: bool
    need_all_success: bool
    config_files: tuple[str, ...]
    environment: Mapping[str, str | int | float | bool]
    export: ExportArguments | None


class ActionModule(PerfAction):
    """Check the plan of users."""

    ARGUMENTS = argument_spec(DOCUMENTATION)

    def perform(self, context: VerbContext) -> VerbResult:
        """Check it, and read the files."""
        args = context.arguments(Arguments)
        plan = replace(_plan(args), export=_export(args, context.run))
        check_plan(plan)
        lasts_s = math.ceil(plan.ready_within_s + plan.stagger_s + plan.timeout_s + _TRANSFER_S)
        config = _contents(args.config_files)
        environment = _environment(args.environment)
        values = {"text": plan.text(), "lasts_s": lasts_s, "config": config, "environment": environment}
        return VerbResult(values=values)


def _plan(args: Arguments) -> UsersPlan:
    command = words(args.ci_command, "ci_command")
    if not command:
        raise UsageError("ci_command is empty; pass the command of every user")
    return UsersPlan(
        job=args.job,
        namespace=args.namespace,
        count=args.count,
        command=command,
        setup_command=words(args.setup_command, "setup_command"),
        user_prefix=args.user_prefix,
        namespace_prefix=args.namespace_prefix,
        seed=args.seed,
        batch_size=args.batch_size,
        batch_delay_s=float(args.batch_delay),
        ready_within_s=float(args.ready_within),
        timeout_s=float(args.timeout),
        abort_on_failure=args.abort_on_failure,
        need_all_success=args.need_all_success,
    )


def _environment(environment: Mapping[str, object]) -> list[dict[str, str]]:
    """Return the variables as in the specification of a container.

    Raises:
        UsageError: If one is; the message names the variable only.
    """
    for name, value in environment.items():
        text = f"{name}={value}"
        if hide(text) != text:
            raise UsageError(
                f"environment: {name} is a credential, which the specification of every pod would contain; put it into "
                "a Secret and pass secret_name"
            )
    return [{"name": name, "value": str(value)} for name, value in environment.items()]


def _export(args: Arguments, run: str) -> ExportPlan | None:
    """Return where the pods send their files.

    Raises:
        UsageError: If the Secret is missing.
    """
    wanted = args.export
    if wanted is None or not wanted.bucket:
        return None
    if not wanted.secret_name:
        raise UsageError("export_bucket_name needs export_secret_name, the Secret with the keys of the store")
    prefix = wanted.prefix.strip("/") or f"local-ci/{args.job}/{run}"
    return ExportPlan(wanted.bucket, wanted.endpoint, wanted.region, prefix, wanted.secret_name)


def _contents(files: Sequence[str]) -> dict[str, str]:
    """Return the text of each file by its name.

    Raises:
        UsageError: If a file cannot be read, has the name of another, or contains a credential.
    """
    found: dict[str, str] = {}
    for path in map(Path, files):
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"config_files: cannot read {path}: {error}") from error
        if path.name in found:
            raise UsageError(f"config_files: two files have the name {path.name}")
        if hide(text) != text:
            raise UsageError(f"config_files: {path} contains a credential; put it into a Secret and pass secret_name")
        found[path.name] = text
    return found
