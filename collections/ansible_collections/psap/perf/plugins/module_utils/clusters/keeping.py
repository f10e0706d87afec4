"""A cluster that stays after its run: the ConfigMap in it that says so, and the commands by which people use it."""

from __future__ import annotations

import shlex
from pathlib import Path

from ansible_collections.psap.perf.plugins.module_utils.base.clock import utc_now
from ansible_collections.psap.perf.plugins.module_utils.cluster.client import Cluster
from ansible_collections.psap.perf.plugins.module_utils.cluster.manifests import MANAGED_BY, Manifest
from ansible_collections.psap.perf.plugins.module_utils.cluster.query import Query
from ansible_collections.psap.perf.plugins.module_utils.clusters.record import ClusterRecord

_QUERY = Query("v1", "ConfigMap", namespace="default", name="keep-cluster")


def kept_by(cluster: Cluster) -> str:
    """Who keeps the cluster, and since when, as its ConfigMap says; empty where there is none."""
    found = cluster.get(_QUERY)
    if found is None:
        return ""
    data = found.get("data") or {}
    since = data.get("since") or found["metadata"].get("creationTimestamp", "")
    return f"{data.get('owner') or 'somebody'}, since {since}"


def keep_manifest(record: ClusterRecord, owner: str, destroy: str) -> Manifest:
    """The ConfigMap; whoever deletes it lets the cluster be destroyed."""
    data = {"owner": owner or record.owner, "since": utc_now(), "until": record.expires, "run": record.run}
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": _QUERY.name, "namespace": _QUERY.namespace, "labels": dict(MANAGED_BY)},
        "data": {**data, "destroy": destroy},
    }


def keep(cluster: Cluster, record: ClusterRecord, owner: str, destroy: str) -> bool:
    """Put the ConfigMap there; whether it was not. One that is there stays, with whom it names."""
    if cluster.get(_QUERY) is not None:
        return False
    cluster.apply(keep_manifest(record, owner, destroy))
    return True


def destroy_command(path: Path, site: str) -> str:
    """A shell line that destroys the cluster, kept or not."""
    named = ["--site", site] if site else []
    return shlex.join(["perfdrv", "toolbox", "cluster", "destroy", *named, "--record", str(path), "--kept", "destroy"])


def login_command(record: ClusterRecord) -> str:
    """A shell line that logs in as the administrator; it reads the password where that stands. Empty without one."""
    password, hub = record.password, (record.destruction.get("hub") or {}).get("perf_kubeconfig")
    if password.file:
        read = f"cat {shlex.quote(password.file)}"
    elif password.secret:
        namespace, _slash, name = password.secret.partition("/")
        words = ["oc", *(["--kubeconfig", str(hub)] if hub else []), "-n", namespace, "get", "secret", name]
        read = f"{shlex.join(words)} -o jsonpath={{.data.{password.key}}} | base64 -d"
    else:
        return ""
    return f'oc login {shlex.quote(record.api)} --username {shlex.quote(password.user)} --password "$({read})"'
