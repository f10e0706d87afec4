"""The Leases of the clusters that a run changes: verbs take them, and Ansible's main process keeps them."""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.awx_job import AwxJob
from ansible_collections.psap.perf.plugins.module_utils.base.clock import seconds
from ansible_collections.psap.perf.plugins.module_utils.cluster_lease.lease import LeaseLostError, acquire
from ansible_collections.psap.perf.plugins.module_utils.cluster_lease.objects import Holder
from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.access import Access
from ansible_collections.psap.perf.plugins.module_utils.run.environment import RunEnvironment
from ansible_collections.psap.perf.plugins.module_utils.run.failures import failures_of
from ansible_collections.psap.perf.plugins.plugin_utils.ansible_private import show
from ansible_collections.psap.perf.plugins.plugin_utils.lease_keeping import HeldLease, LeaseKeeper
from ansible_collections.psap.perf.plugins.plugin_utils.verb import VerbContext

# the clusters whose Leases the main process keeps, for the workers that it forks
_HELD = "PERF_RUN_LEASES"


def needs_lease(context: VerbContext) -> bool:
    """Return whether a change of the cluster needs its Lease: not in check mode, nor with ``clusters_lock: ignore``."""
    return not context.check_mode and context.variables.get("clusters_lock", "refuse") != "ignore"


def take_lease(context: VerbContext, what: str) -> dict[str, Any]:
    """Take the Lease of the host's cluster unless this run has it.

    Args:
        context: The verb.
        what: The flow or the command, for messages to other runs.

    Returns:
        Values for the verb's result, from which the callback starts to keep the Lease.

    Raises:
        LeaseHeldError: If another run has the Lease, and the run does not wait for it.
        LeaseLostError: If this run has lost its Lease before.
    """
    if not needs_lease(context):
        return {}
    environment = RunEnvironment.read()
    for failure in failures_of(environment.directory, environment.attempt):
        if failure.kind == LeaseLostError.__name__:
            raise LeaseLostError(f"{what} does not start: {failure.why}")
    if has_lease(context):
        return {}
    access = Access.from_variables(context.variables)
    holder = Holder.here(environment.run, what, environment.root, workflow_of(context))
    waits = context.variables.get("clusters_lock") == "wait"
    wait_s = seconds(context.variables.get("clusters_lock_timeout", 0)) if waits else 0.0
    owner = str(context.variables.get("clusters_lock_owner", ""))
    acquire(context.cluster(), holder, wait_s, context.check_interrupted, show_wait, owner=owner)
    held = HeldLease(access, holder, str(environment.directory), environment.attempt)
    return {"run_lease": asdict(held)}


def workflow_of(context: VerbContext) -> str:
    """Return the address of the AWX workflow job that this run is a step of; empty for any other run."""
    job = AwxJob.read(context.variables)
    return job.workflow if job else ""


def has_lease(context: VerbContext) -> bool:
    """Return whether this run keeps the Lease of the host's cluster."""
    return asdict(Access.from_variables(context.variables)) in json.loads(os.environ.get(_HELD, "[]"))


def show_wait(state: str) -> None:
    """Show what the run waits for."""
    show(f"waits: {state}")


class HeldLeases:
    """The Leases that this process keeps."""

    def __init__(self) -> None:
        self._keepers: dict[Access, LeaseKeeper] = {}

    def keep(self, document: dict[str, Any]) -> None:
        """Keep the Lease that a verb took."""
        held = HeldLease.from_document(document)
        if held.access not in self._keepers:
            self._keepers[held.access] = LeaseKeeper(held)
            os.environ[_HELD] = json.dumps([asdict(access) for access in self._keepers])

    def check(self) -> None:
        """Start a keeper again if it was killed."""
        for keeper in self._keepers.values():
            keeper.replace_if_killed()

    def end(self, *, give_back: bool) -> None:
        """Stop keeping all Leases.

        Args:
            give_back: Whether to release them; otherwise another process of the run continues with them.
        """
        while self._keepers:
            _access, keeper = self._keepers.popitem()
            keeper.end(give_back=give_back)
        os.environ.pop(_HELD, None)
