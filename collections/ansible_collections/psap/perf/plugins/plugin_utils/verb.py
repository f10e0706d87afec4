"""The base of all verbs: the duties of an action plugin in a run."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from ansible.errors import AnsibleActionFail
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from ansible.plugins.action import ActionBase
from ansible_collections.psap.perf.plugins.module_utils.base.arguments import convert
from ansible_collections.psap.perf.plugins.module_utils.base.clock import seconds
from ansible_collections.psap.perf.plugins.module_utils.base.credentials import hide
from ansible_collections.psap.perf.plugins.module_utils.base.documents import plain
from ansible_collections.psap.perf.plugins.module_utils.base.errors import Interrupted, PerfError, UsageError
from ansible_collections.psap.perf.plugins.module_utils.base.processes import die_with_parent
from ansible_collections.psap.perf.plugins.module_utils.kube_api.client import Cluster
from ansible_collections.psap.perf.plugins.module_utils.kube_api.outage import Outage
from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.access import Access
from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.lab import Lab, lab_of
from ansible_collections.psap.perf.plugins.module_utils.run.directory import REACHED_FILE, STOP_FILE
from ansible_collections.psap.perf.plugins.module_utils.run.environment import RunEnvironment
from ansible_collections.psap.perf.plugins.module_utils.secrets.leaks import Redactor, credentials_of_environment
from ansible_collections.psap.perf.plugins.module_utils.secrets.references import parse_reference, remember, resolve
from ansible_collections.psap.perf.plugins.module_utils.settings.specs import read_command
from ansible_collections.psap.perf.plugins.plugin_utils.argument_specs import command_arguments, command_spec

# the variable that the role psap.perf.command registers
OPENED = "__psap_perf_command"
_STOP_POLL_S = 0.5
# longer than a restart of an API server
_PATIENCE = "60s"

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class VerbResult:
    """The result of a verb."""

    changed: bool = False
    values: Mapping[str, Any] = field(default_factory=dict)
    diff: Mapping[str, Any] | list[Mapping[str, Any]] | None = None
    skipped: str | None = None
    warnings: tuple[str, ...] = ()


@dataclass(slots=True)
class VerbContext:
    """The context of a verb."""

    args: Mapping[str, Any]
    check_mode: bool
    diff_mode: bool
    host: str
    roles: tuple[str, ...]
    """The roles around the task, the innermost last."""
    variables: Mapping[str, Any]
    run: str
    """The ID of the run."""
    run_directory: Path
    interrupted: threading.Event
    finalizing: bool
    redactor: Redactor
    transport: str = "local"
    """The connection of the task's host."""
    _cluster: Cluster | None = None

    def arguments(self, kind: type[T]) -> T:
        """Return the arguments as the dataclass *kind*, which has fields for some of them.

        Raises:
            UsageError: If a value does not fit its field.
        """
        return convert(self.args, kind)

    @property
    def directory(self) -> Path:
        """The directory of the task's command, which may include the task's role.

        Raises:
            UsageError: If the task is outside a command.
        """
        directory = self.command_directory()
        if directory is None:
            raise UsageError(
                "this verb works inside a command, a role whose meta/main.yml depends on psap.perf.command; "
                f"{self.roles[-1] if self.roles else 'a task outside any role'} has no artifact directory"
            )
        return directory

    def command_directory(self) -> Path | None:
        """Return the same, or None outside a command."""
        opened = self.opened_directories()
        return next((Path(opened[role]) for role in reversed(self.roles) if role in opened), None)

    def opened_directories(self) -> Mapping[str, str]:
        """Return the directories of the commands that this host is in, by role."""
        opened: Mapping[str, Any] = self.variables.get(OPENED) or {}
        directories: Mapping[str, str] = opened.get("directories") or {}
        return directories

    def cluster(self) -> Cluster:
        """Return the cluster of the task's host.

        Raises:
            UsageError: If the host is another machine, and its cluster is not set.
        """
        if self.transport != "local" and not self.variables.get("perf_kubeconfig"):
            raise UsageError(
                f"host {self.host} has connection {self.transport}, and a cluster's API is called from the controller; "
                "set ansible_connection: local for it, or set its cluster with perf_kubeconfig"
            )
        if self._cluster is None:
            self._cluster = Cluster(Access.from_variables(self.variables), self._outage())
        return self._cluster

    def lab(self) -> Lab | None:
        """Return the lab of the host; None if its cluster is not a lab, or the flow has no cluster."""
        return lab_of(self.cluster().lab()) if self.variables.get("perf_cluster_needed", True) else None

    def other_cluster(self, access: Access) -> Cluster:
        """Return a cluster that is not the host's; the caller closes it."""
        return Cluster(access, self._outage())

    def _outage(self) -> Outage:
        """Return how long to tolerate an outage of the cluster: 0 until it has responded once in this attempt."""
        reached = self.run != self.run_directory.name or (self.run_directory / REACHED_FILE).exists()
        patience = self.variables.get("perf_kube_patience") or _PATIENCE
        return Outage(seconds(patience) if reached else 0.0, self.check_interrupted)

    def close(self) -> None:
        """Close the connection to the cluster, and record whether it responds."""
        if self._cluster is None:
            return
        reached, answered = self.run_directory / REACHED_FILE, self._cluster.outage.answered
        with contextlib.suppress(OSError):
            if answered:
                reached.touch()
            elif answered is False:
                # the next verb fails immediately
                reached.unlink(missing_ok=True)
        self._cluster.close()

    def secret(self, reference: str) -> str:
        """Return the value of *reference* (``file:NAME``, ``env:NAME``, ``vault:NAME``).

        It is redacted from the verb's result; do not write it to files.

        Raises:
            UsageError: If it is not a reference, or the secret does not exist.
        """
        remember(self.run_directory, reference)
        value = resolve(parse_reference(reference), vault=self.vaulted)
        self.redactor.add(value)
        return value

    def vaulted(self, name: str) -> str | None:
        """Return the decrypted value of the variable *name*, or None."""
        value = self.variables.get(name)
        return None if value is None else str(value)

    def check_interrupted(self) -> None:
        """Raise an error if the user asked the run to stop.

        Raises:
            Interrupted: If so, unless a finalizer is running.
        """
        if self.interrupted.is_set():
            raise Interrupted("interrupted: the run was asked to stop")


class PerfAction(ActionBase):
    """The base class of verbs: handles signals, secrets, check mode and errors."""

    TRANSFERS_FILES = False
    _VALID_ARGS = None

    ARGUMENTS: ClassVar[Mapping[str, Any]] = {}
    RUNS_IN_CHECK_MODE: ClassVar[bool] = True

    def perform(self, context: VerbContext) -> VerbResult:
        """Do the work.

        Raises:
            PerfError: If it fails; the message is for the user.
        """
        raise NotImplementedError

    def describe(self, context: VerbContext) -> str:  # noqa: ARG002 - for subclasses
        """Return what `perform` would do, for check mode."""
        return f"would {self._task.action.rpartition('.')[2]}"

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Ansible's entry point."""
        die_with_parent()
        result: dict[str, Any] = super().run(tmp, task_vars)
        redactor = Redactor(credentials_of_environment())
        try:
            outcome = self._outcome(task_vars or {}, redactor)
        except AnsibleActionFail:
            raise
        except PerfError as error:
            outcome = {
                "failed": True,
                "msg": hide(str(error)),
                "exit_code": error.exit_code,
                "error_kind": type(error).__name__,
                **error.result,
            }
        redacted: dict[str, Any] = redactor.redact(plain(outcome))
        return {**result, **redacted}

    def _outcome(self, task_vars: dict[str, Any], redactor: Redactor) -> dict[str, Any]:
        self._apply_environment()
        variables = HostVariables(task_vars, self._templar.template)
        with self._context(self._checked_arguments(variables), variables, redactor) as context:
            if context.check_mode and not self.RUNS_IN_CHECK_MODE:
                return {"changed": False, "skipped": True, "msg": f"check mode: {self.describe(context)}"}
            done = self.perform(context)
        outcome: dict[str, Any] = {**done.values, "changed": done.changed}
        if done.diff is not None and (context.diff_mode or context.check_mode):
            outcome["diff"] = done.diff
        if done.skipped is not None:
            outcome.update(skipped=True, msg=done.skipped)
        if done.warnings:
            outcome["warnings"] = list(done.warnings)
        return outcome

    def _checked_arguments(self, variables: HostVariables) -> dict[str, Any]:  # noqa: ARG002 - for subclasses
        """Return the task's arguments, converted to the types of `ARGUMENTS`, with their defaults."""
        _result, arguments = self.validate_argument_spec(argument_spec=dict(self.ARGUMENTS))
        return arguments

    def _apply_environment(self) -> None:
        """Apply the task's ``environment`` to this process, which is the task's own, but refuse a cluster in it.

        Raises:
            UsageError: If it sets a cluster.
        """
        for given in self._task.environment or ():
            for name, value in (self._templar.template(given) or {}).items():
                if name == "KUBECONFIG" or name.startswith("K8S_AUTH_"):
                    raise UsageError(
                        f"{self._task.action} does not accept {name} in a task's environment; "
                        "set the cluster with the host's variable perf_kubeconfig"
                    )
                os.environ[name] = str(value)

    @contextlib.contextmanager
    def _context(
        self, arguments: Mapping[str, Any], variables: HostVariables, redactor: Redactor
    ) -> Iterator[VerbContext]:
        environment = RunEnvironment.read()
        finalizing = bool(variables.get("perf_finalizing", False))
        interrupted = threading.Event()
        context = VerbContext(
            args=arguments,
            check_mode=bool(self._task.check_mode),
            diff_mode=bool(self._task.diff),
            host=str(variables.get("inventory_hostname", "localhost")),
            roles=tuple(role.get_name(include_role_fqcn=False) for role in self._task.get_dep_chain() or ()),
            variables=variables,
            run=environment.run,
            run_directory=environment.directory,
            interrupted=interrupted,
            finalizing=finalizing,
            redactor=redactor,
            transport=self._connection.transport,
        )
        ended = threading.Event()
        if not finalizing:
            watched = (environment.directory, interrupted, ended)
            watcher = threading.Thread(target=_watch_for_stop, args=watched, daemon=True)
            watcher.start()
        try:
            yield context
        finally:
            ended.set()
            context.close()


class CommandAction(PerfAction):
    """A verb with the arguments of its task's role; tasks pass only values that the role computes.

    `ARGUMENTS` declares these values.
    """

    def _checked_arguments(self, variables: HostVariables) -> dict[str, Any]:
        role = self._task._role
        if role is None:
            raise UsageError(f"{self._task.action} reads its arguments from a command; call the command's role instead")
        path = Path(role._role_path)
        command = read_command(path, path)
        values = {option.short_name: value for option, value in command_arguments(command, variables)}
        checked = ArgumentSpecValidator(command_spec(command)).validate(values)
        if checked.error_messages:
            raise UsageError(f"{command.role}: {'; '.join(checked.error_messages)}")
        return {**checked.validated_parameters, **super()._checked_arguments(variables)}


class HostVariables(Mapping[str, Any]):
    """A host's variables, each templated on access."""

    def __init__(self, variables: Mapping[str, Any], template: Callable[[Any], Any]) -> None:
        self._variables = variables
        self._template = template

    def __getitem__(self, name: str) -> Any:
        return self._template(self._variables[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._variables)

    def __len__(self) -> int:
        return len(self._variables)


def _watch_for_stop(run: Path, interrupted: threading.Event, ended: threading.Event) -> None:
    stop = run / STOP_FILE
    while not ended.wait(_STOP_POLL_S):
        if stop.exists():
            interrupted.set()
            return
