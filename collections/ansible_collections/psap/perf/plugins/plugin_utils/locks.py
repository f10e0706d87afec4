"""The base class of verbs that lock; a module takes the lock of a host on that host."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ansible.errors import AnsibleConnectionFailure
from ansible_collections.psap.perf.plugins.module_utils.base.errors import HostError, error_for_exit_code
from ansible_collections.psap.perf.plugins.module_utils.cluster_lease.objects import Holder
from ansible_collections.psap.perf.plugins.module_utils.run.environment import RunEnvironment
from ansible_collections.psap.perf.plugins.plugin_utils.leases import workflow_of
from ansible_collections.psap.perf.plugins.plugin_utils.verb import PerfAction, VerbContext


@dataclass(frozen=True, slots=True)
class LockArguments:
    """The arguments that name a lock; without a folder, it is the lock of the cluster."""

    owner: str
    folder: str


class LockAction(PerfAction):
    """A verb for the lock of the cluster or of the host."""

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Run the verb; modules on the host run with the variables *task_vars*."""
        self._raw = task_vars or {}
        return super().run(tmp, task_vars)

    def on_host(self, context: VerbContext, **arguments: Any) -> dict[str, Any]:
        """Return the result of the module `locks.file` on the host.

        Raises:
            HostError: If the host cannot be reached.
            PerfError: If the module fails.
        """
        try:
            found: dict[str, Any] = self._execute_module(
                module_name="psap.perf.locks.file",
                module_args={"folder": context.arguments(LockArguments).folder, **arguments},
                task_vars=self._raw,
            )
        except AnsibleConnectionFailure as error:
            raise HostError(f"host {context.host} cannot be reached: {error}") from error
        if found.get("failed"):
            raise error_for_exit_code(int(found.get("exit_code") or 1), str(found.get("msg", "no message")))
        return found


def requester(context: VerbContext) -> Holder:
    """Return this run as the holder of the Lease that it needs to write the lock."""
    environment = RunEnvironment.read()
    what = f"lock for {context.arguments(LockArguments).owner}"
    return Holder.here(environment.run, what, environment.root, workflow_of(context))
