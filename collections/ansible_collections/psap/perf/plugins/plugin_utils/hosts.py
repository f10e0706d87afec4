"""The base of verbs that run modules on the host of the task, over Ansible's connection."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from ansible.errors import AnsibleConnectionFailure
from ansible_collections.psap.perf.plugins.module_utils.base.errors import HostError
from ansible_collections.psap.perf.plugins.module_utils.base.processes import descendants
from ansible_collections.psap.perf.plugins.module_utils.hosts.host_keys import SshTarget, advice, is_refused_key
from ansible_collections.psap.perf.plugins.plugin_utils.settings.inventory_layers import LANE_OF
from ansible_collections.psap.perf.plugins.plugin_utils.verb import PerfAction, VerbContext

_STOP_POLL_S = 0.5


class HostAction(PerfAction):
    """A verb that runs modules on the host; an unreachable host is an error like others, so that the run concludes."""

    _task_variables: dict[str, Any]

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Ansible's entry point."""
        self._task_variables = task_vars or {}
        return super().run(tmp, task_vars)

    def on_host(self, context: VerbContext, module: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return the result of *module* on the host.

        Raises:
            HostError: If the host cannot be reached, or the module fails.
            Interrupted: If the user asked the run to stop.
        """
        if getattr(self._connection._shell, "_IS_WINDOWS", False):
            raise HostError(f"{self.host_of(context)} is a Windows host, which is not supported yet")
        with _stop_with(context):
            try:
                result: dict[str, Any] = self._execute_module(
                    module_name=module, module_args=dict(arguments), task_vars=self._task_variables
                )
            except AnsibleConnectionFailure as error:
                context.check_interrupted()
                raise HostError(f"host {self.host_of(context)} cannot be reached: {self._why(str(error))}") from error
        context.check_interrupted()
        if result.get("unreachable") or result.get("failed"):
            errors = result.get("module_stderr") or ""
            raise HostError(f"host {self.host_of(context)}: {result.get('msg', 'no message')} {errors}".strip()[-4000:])
        return result

    def _why(self, error: str) -> str:
        """Return the *error* of ssh; for a refused host key, the cause and what to do."""
        if not is_refused_key(error) or self._connection.transport != "ssh":
            return error
        option = self._connection.get_option
        words = [
            word
            for name in ("ssh_args", "ssh_common_args", "ssh_extra_args")
            for word in shlex.split(option(name) or "")
        ]
        if option("port"):
            words += ["-p", str(option("port"))]
        argv = [option("ssh_executable"), *words, "-G", option("host")]
        done = subprocess.run(argv, capture_output=True, text=True, check=False)  # noqa: S603 - no shell
        return advice(error, SshTarget.from_configuration(done.stdout))

    def host_of(self, context: VerbContext) -> str:
        """Return the host of the inventory; the task's host may be a lane of it."""
        return str(context.variables.get(LANE_OF, context.host))

    @property
    def becomes(self) -> bool:
        """Return whether the task has ``become``."""
        return bool(self._play_context.become)


@contextmanager
def _stop_with(context: VerbContext) -> Iterator[None]:
    """End the connection's processes if the user asks the run to stop; the host then undoes its work."""
    ended = threading.Event()

    def watch() -> None:
        while not ended.wait(_STOP_POLL_S):
            if context.interrupted.is_set():
                for pid in descendants(os.getpid()):
                    with suppress(OSError):
                        os.kill(pid, signal.SIGTERM)
                return

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        ended.set()
