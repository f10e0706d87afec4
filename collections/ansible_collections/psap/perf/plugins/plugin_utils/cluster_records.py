"""The record of the cluster that a verb acts on, and the verbs that destroy this cluster."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.kube_api.client import Cluster
from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.access import Access
from ansible_collections.psap.perf.plugins.module_utils.provisioning.record import (
    DESTROYED,
    ClusterRecord,
    Journal,
    new_record,
    read_record,
    record_path,
)
from ansible_collections.psap.perf.plugins.module_utils.run.environment import RunEnvironment
from ansible_collections.psap.perf.plugins.plugin_utils.verb import CommandAction, VerbContext, VerbResult


@dataclass(frozen=True, slots=True)
class RecordArguments:
    """The arguments that name a record."""

    record: str
    host: str


@dataclass(frozen=True, slots=True)
class NewRecordArguments:
    """The arguments of a new record."""

    host: str
    name: str
    prefix: str
    owner: str
    time_to_live: str
    tags: Mapping[str, Any]
    folder: str


def path_of(context: VerbContext) -> Path:
    """Return the path of the record: the argument ``record``, by default the record of ``host`` in this run."""
    args = context.arguments(RecordArguments)
    return Path(args.record).absolute() if args.record else record_path(RunEnvironment.read().root, args.host)


def begin(context: VerbContext, method: str | None) -> ClusterRecord:
    """Return a new record, which is not written yet.

    Raises:
        UsageError: Without a method, and for names, tags and times that no cluster can have.
    """
    if not method:
        raise UsageError("psap.perf.clusters.record needs a method for a cluster that has no record yet")
    args = context.arguments(NewRecordArguments)
    return new_record(
        context.run,
        args.host,
        method,
        name=args.name,
        prefix=args.prefix,
        owner=args.owner,
        time_to_live=args.time_to_live,
        tags=args.tags,
        folder=args.folder,
    )


def existing(path: Path, method: str) -> ClusterRecord | None:
    """Return the record of a cluster that exists or whose creation has begun; None without one.

    Raises:
        UsageError: If another method created the cluster.
    """
    record = read_record(path)
    if record is None or record.phase == DESTROYED:
        return None
    if record.method != method:
        raise UsageError(f"{path} is the record of a cluster that was created by {record.method}, not by {method}")
    return record


def document_of(record: ClusterRecord | None) -> dict[str, Any]:
    """Return *record* as verbs return it; empty for None."""
    return asdict(record) if record else {}


def result_of(path: Path, record: ClusterRecord | None, *, changed: bool = False) -> VerbResult:
    """Return the result of a verb: the record and its path."""
    return VerbResult(changed=changed, values={"record": str(path), "cluster": document_of(record)})


@contextmanager
def where_hive_runs(context: VerbContext, record: ClusterRecord) -> Iterator[Cluster]:
    """Yield the cluster that the record names; without a kubeconfig, the environment's cluster, as in a pod."""
    named = record.destruction.get("hub") or {}
    access = Access(named.get("perf_kubeconfig"), named.get("perf_kube_context"), named.get("perf_kube_proxy"))
    cluster = context.other_cluster(access)
    try:
        yield cluster
    finally:
        cluster.close()


class DestroyAction(CommandAction):
    """A verb that destroys the cluster of a record, and removes the cluster's folder."""

    def perform(self, context: VerbContext) -> VerbResult:
        """Destroy the cluster of the record; in check mode, find out whether it exists."""
        path = path_of(context)
        record = read_record(path)
        if record is None:
            return replace(result_of(path, None), skipped="no cluster is recorded")
        journal = Journal(path, record)
        if record.phase == DESTROYED:
            if not context.check_mode:
                # a killed command may have left the folder
                journal.forget()
            return result_of(path, record)
        if context.check_mode:
            return result_of(path, record, changed=self.exists(context, record))
        self.destroy(context, record)
        journal.forget()
        return result_of(path, journal.record, changed=True)

    def exists(self, _context: VerbContext, _record: ClusterRecord) -> bool:
        """Return whether the cluster may exist; by default true."""
        return True

    @abstractmethod
    def destroy(self, context: VerbContext, record: ClusterRecord) -> None:
        """Destroy the cluster, and wait for its end."""
