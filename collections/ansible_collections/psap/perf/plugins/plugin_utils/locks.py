"""What the verbs that lock have in common: the lock of a host is taken on that host, by a module."""

from __future__ import annotations

from typing import Any

from ansible.errors import AnsibleConnectionFailure
from ansible_collections.psap.perf.plugins.module_utils.base.errors import HostError, error_for_exit_code
from ansible_collections.psap.perf.plugins.module_utils.cluster.lease_objects import Holder
from ansible_collections.psap.perf.plugins.module_utils.run.environment import RunEnvironment
from ansible_collections.psap.perf.plugins.plugin_utils.leases import workflow_of
from ansible_collections.psap.perf.plugins.plugin_utils.verb import PerfAction, VerbContext


class LockAction(PerfAction):
    """A verb that acts on the lock of the cluster, or of the host."""

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Ansible's entry point; keeps the variables, with which modules run."""
        self._raw = task_vars or {}
        return super().run(tmp, task_vars)

    def on_host(self, context: VerbContext, **arguments: Any) -> dict[str, Any]:
        """What the module that runs on the host returns.

        :raises HostError: when the host cannot be reached.
        :raises PerfError: as the module says.
        """
        try:
            found: dict[str, Any] = self._execute_module(
                module_name="psap.perf.locks.file",
                module_args={"folder": context.args["folder"], **arguments},
                task_vars=self._raw,
            )
        except AnsibleConnectionFailure as error:
            raise HostError(f"host {context.host} cannot be reached: {error}") from error
        if found.get("failed"):
            raise error_for_exit_code(int(found.get("exit_code") or 1), str(found.get("msg", "no message")))
        return found


def asking(context: VerbContext) -> Holder:
    """Who asks: this run."""
    environment = RunEnvironment.read()
    what = f"lock for {context.args['owner']}"
    return Holder.here(environment.run, what, environment.root, workflow_of(context))
