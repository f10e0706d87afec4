"""Which clusters a run creates, uses and destroys: by its settings, and by the records that it has written."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.provisioning.record import CREATED, DESTROYED, ClusterRecord

EXISTING = "existing"
# settled by the flow, not by who sets arguments
_OF_FLOW = ("host", "record")


@dataclass(frozen=True, slots=True)
class Creation:
    """A host whose cluster the run creates.

    :param arguments: of the command that creates it, by their names without the role's, that the settings do not say.
    :param phase: of its record; empty where there is none.
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
    """The clusters of a run, in the order of *methods*, then those that only records tell of.

    :param methods: how each host comes by its cluster.
    :param differing: arguments of a host's cluster, by host.
    :param arguments_of: names of the arguments of the command that creates by a method.
    :raises UsageError: for an argument that there is not, and for a record by another method that is not destroyed.
    """
    noted = {record.host: record for record in records if record.phase != DESTROYED}
    wanted = {host: method for host, method in methods.items() if method != EXISTING}
    for host, arguments in differing.items():
        method = wanted.get(host)
        if arguments and method is None:
            raise UsageError(f"no cluster is created for {host}, so these have no use: {', '.join(sorted(arguments))}")
        known = arguments_of(method).difference(_OF_FLOW) if method else frozenset()
        unknown = sorted(arguments.keys() - known)
        if unknown:
            raise UsageError(f"cluster_create_{method} has no such argument to set: {', '.join(unknown)}")
    for host, record in noted.items():
        if wanted.setdefault(host, record.method) != record.method:
            raise UsageError(
                f"the cluster of {host} is one by {record.method}, the settings say {wanted[host]}: destroy it first"
            )
    return [
        Creation(
            host=host,
            method=method,
            arguments=differing.get(host, {}),
            phase=noted[host].phase if host in noted else "",
            kept=host in noted and noted[host].kept,
        )
        for host, method in wanted.items()
    ]


def missing(creations: Sequence[Creation]) -> list[str]:
    """The hosts whose clusters are not there."""
    return [each.host for each in creations if each.phase != CREATED]


def created(records: Sequence[ClusterRecord]) -> dict[str, ClusterRecord]:
    """The records of clusters that are there, by host."""
    return {record.host: record for record in records if record.phase == CREATED}
