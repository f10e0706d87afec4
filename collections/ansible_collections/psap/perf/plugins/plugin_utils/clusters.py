"""The record that a verb's arguments are about."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.cluster.client import Cluster
from ansible_collections.psap.perf.plugins.module_utils.clusters.record import ClusterRecord, new_record, record_path
from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.access import Access
from ansible_collections.psap.perf.plugins.module_utils.run.environment import RunEnvironment
from ansible_collections.psap.perf.plugins.plugin_utils.verb import VerbContext


def path_of(context: VerbContext) -> Path:
    """Where it is: as ``record`` says, else that of ``host`` in this run."""
    given = context.args["record"]
    return Path(given).absolute() if given else record_path(RunEnvironment.read().root, context.args["host"])


def begin(context: VerbContext, method: str | None) -> ClusterRecord:
    """The record of a cluster that is yet to be noted, by the fragments ``cluster_record`` and ``cluster_begun``."""
    args = context.args
    if not method:
        raise UsageError("psap.perf.clusters.record needs the method of a cluster of which nothing is noted yet")
    return new_record(
        context.run,
        args["host"],
        method,
        name=args["name"],
        prefix=args["prefix"],
        owner=args["owner"],
        time_to_live=args["time_to_live"],
        tags=args["tags"],
        folder=args["folder"],
    )


def said_of(record: ClusterRecord | None) -> dict[str, Any]:
    """The record as verbs return it; empty where there is none."""
    return asdict(record) if record else {}


@contextmanager
def where_hive_runs(context: VerbContext, record: ClusterRecord) -> Iterator[Cluster]:
    """The cluster that the record names; that of the environment, as in a pod, where no kubeconfig does."""
    named = record.destruction.get("hub") or {}
    access = Access(named.get("perf_kubeconfig"), named.get("perf_kube_context"), named.get("perf_kube_proxy"))
    cluster = context.other_cluster(access)
    try:
        yield cluster
    finally:
        cluster.close()
