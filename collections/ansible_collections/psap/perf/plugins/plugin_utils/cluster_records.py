"""The record of the cluster that a verb acts on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.kube_api.client import Cluster
from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.access import Access
from ansible_collections.psap.perf.plugins.module_utils.provisioning.record import (
    ClusterRecord,
    new_record,
    record_path,
)
from ansible_collections.psap.perf.plugins.module_utils.run.environment import RunEnvironment
from ansible_collections.psap.perf.plugins.plugin_utils.verb import VerbContext


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


def document_of(record: ClusterRecord | None) -> dict[str, Any]:
    """Return *record* as verbs return it; empty for None."""
    return asdict(record) if record else {}


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
