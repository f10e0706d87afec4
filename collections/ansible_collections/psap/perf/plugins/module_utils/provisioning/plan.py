"""Plan the clusters that a run creates, uses and destroys, by its settings and records."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.provisioning.record import CREATED, DESTROYED, ClusterRecord

EXISTING = "existing"
# arguments that the flow sets, not the user
_OF_FLOW = ("host", "record")


@dataclass(frozen=True, slots=True)
class Creation:
    """A host whose cluster the run creates.

    Args:
        arguments: Arguments of the creating command that differ from the settings, without the role's prefix.
        phase: Phase of its record; empty without one.
    """

    host: str
    method: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    phase: str = ""
    kept: bool = False


def plan(
    methods: Mapping[str, str],
    differing: Mapping[str, Mapping[str, Any]],
    records: Sequence[ClusterRecord],
    arguments_of: Callable[[str], frozenset[str]],
) -> list[Creation]:
    """Return the clusters of a run, in the order of *methods*, then those that only have records.

    Args:
        methods: Method of creation by host.
        differing: Arguments of a host's cluster, by host.
        records: The run's records.
        arguments_of: Returns the argument names of the command for a method.

    Raises:
        UsageError: If an argument is unknown, or an existing cluster was created by another method.
    """
    recorded = {record.host: record for record in records if record.phase != DESTROYED}
    wanted = {host: method for host, method in methods.items() if method != EXISTING}
    for host, arguments in differing.items():
        method = wanted.get(host)
        if arguments and method is None:
            raise UsageError(f"no cluster is created for {host}; remove its arguments {', '.join(sorted(arguments))}")
        known = arguments_of(method).difference(_OF_FLOW) if method else frozenset()
        unknown = sorted(arguments.keys() - known)
        if unknown:
            raise UsageError(f"cluster_create_{method} has no such argument to set: {', '.join(unknown)}")
    for host, record in recorded.items():
        if wanted.setdefault(host, record.method) != record.method:
            raise UsageError(
                f"the cluster of {host} was created by {record.method}, but the settings have {wanted[host]}: destroy "
                "it first"
            )
    return [
        Creation(
            host=host,
            method=method,
            arguments=differing.get(host, {}),
            phase=recorded[host].phase if host in recorded else "",
            kept=host in recorded and recorded[host].kept,
        )
        for host, method in wanted.items()
    ]


def missing(creations: Sequence[Creation]) -> list[str]:
    """Return the hosts whose clusters do not exist."""
    return [each.host for each in creations if each.phase != CREATED]


def created(records: Sequence[ClusterRecord]) -> dict[str, ClusterRecord]:
    """Return the records of existing clusters by host."""
    return {record.host: record for record in records if record.phase == CREATED}
