"""Claim and release a cluster of a Hive pool, and read its kubeconfig.

A claim has the name of the record and an annotation with its owner, so that it is found again after a failure. Hive
deletes a claim whose lifetime is over, and the cluster with it.
"""

from __future__ import annotations

import base64
import datetime
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.clock import parse_utc, seconds, utc_text
from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError, WaitTimeoutError
from ansible_collections.psap.perf.plugins.module_utils.kube_api.api_errors import ConflictError
from ansible_collections.psap.perf.plugins.module_utils.kube_api.client import Cluster
from ansible_collections.psap.perf.plugins.module_utils.kube_api.manifests import MANAGED_BY, Manifest
from ansible_collections.psap.perf.plugins.module_utils.kube_api.query import Query
from ansible_collections.psap.perf.plugins.module_utils.provisioning.record import (
    CREATED,
    KUBECONFIG,
    ClusterRecord,
    Journal,
    Password,
    write_private,
)
from ansible_collections.psap.perf.plugins.module_utils.waiting.observing import Source
from ansible_collections.psap.perf.plugins.module_utils.waiting.verdicts import Verdict, condition
from ansible_collections.psap.perf.plugins.module_utils.waiting.waiting import Goal, NotReachedError, Progress, wait_for

API_VERSION = "hive.openshift.io/v1"
_OWNER, _TAGS, _WHO = "psap.perf/cluster", "psap.perf/tags", "psap.perf/owner"
_GONE = ("ClusterDeleted", "ClusterDeleting")
_CANNOT_START = "FailedToStartMachines"


class ClaimLostError(ClusterError):
    """Another user deleted the claim or its cluster, or its lifetime is over."""


@dataclass(frozen=True, slots=True)
class Pool:
    """A pool, on the cluster where Hive runs."""

    namespace: str
    name: str

    def claim(self, name: str) -> Query:
        """Return the query for a claim of one of its clusters."""
        return Query(API_VERSION, "ClusterClaim", namespace=self.namespace, name=name)

    def require(self, hub: Cluster) -> Manifest:
        """Return the pool.

        Raises:
            ClusterError: If it is missing, with the names of existing pools.
        """
        if not hub.serves(API_VERSION, "ClusterPool"):
            raise ClusterError(f"{hub.server} serves no ClusterPool: Hive does not run there; set its kubeconfig")
        found = hub.get(Query(API_VERSION, "ClusterPool", namespace=self.namespace, name=self.name))
        if found is None:
            others, _version = hub.list(Query(API_VERSION, "ClusterPool", namespace=self.namespace))
            names = ", ".join(sorted(each["metadata"]["name"] for each in others)) or "none"
            raise ClusterError(f"no ClusterPool {self.name} in namespace {self.namespace}; known: {names}")
        return found


def is_claimed(hub: Cluster, record: ClusterRecord) -> bool:
    """Return whether the claim of *record* still exists."""
    found = hub.get(_pool_of(record).claim(record.name))
    return found is not None and _is_of(found, record) and not found["metadata"].get("deletionTimestamp")


def claim(hub: Cluster, journal: Journal) -> bool:
    """Claim a cluster for the record unless it is claimed already, and return whether this created the claim.

    Raises:
        ClusterError: If the pool is missing, or another owner's claim has the name.
    """
    record = journal.record
    pool = _pool_of(record)
    pool.require(hub)
    found = hub.get(pool.claim(record.name))
    if found is None:
        try:
            hub.create(_claim_manifest(record, pool))
            return True
        except ConflictError:
            found = hub.get(pool.claim(record.name))
    if found is None or not _is_of(found, record):
        raise ClusterError(
            f"{pool.namespace} has a ClusterClaim {record.name} that {record.mark} did not create; choose another name"
        )
    return False


def await_claim(
    hub: Cluster,
    journal: Journal,
    timeout_s: float,
    patience_s: float,
    check: Callable[[], None],
    show: Callable[[str], None],
) -> None:
    """Wait until the claimed cluster runs; then write its kubeconfig, and complete its record.

    Args:
        patience_s: Time for Hive to retry the start of machines that fails.
        check: Raises Interrupted if the user stops the run.

    Raises:
        ClaimLostError: If the claim or its cluster is deleted meanwhile.
        NotReachedError: If the cluster does not run in time, or cannot start.
    """
    record = journal.record
    pool = _pool_of(record)
    seen = False

    def report(progress: Progress) -> None:
        nonlocal seen
        lost = _lost(progress, seen, record.name)
        if lost:
            raise ClaimLostError(f"{lost}; claim one again")
        seen = seen or progress.seen > 0
        show(progress.note)

    goal = Goal(
        query=pool.claim(record.name),
        described=f"the cluster claimed by {record.name} of pool {pool.name}",
        states=(_check_running,),
        timeout_s=timeout_s,
        patience_s=patience_s,
        surrender=_cannot_start,
    )
    try:
        progress = wait_for(hub, goal, check, report)
    except NotReachedError as error:
        found = {"objects": [each["metadata"]["name"] for each in error.result["objects"]]}
        raise _with_pool_state(hub, pool, str(error), found) from error
    _record_cluster(hub, journal, progress.objects[0])


def release(hub: Cluster, record: ClusterRecord) -> bool:
    """Delete the claim, with which Hive deletes the cluster, and return whether it was not being deleted yet."""
    query = _pool_of(record).claim(record.name)
    if not hub.serves(API_VERSION, "ClusterClaim"):
        # Hive was uninstalled, and its claims with it
        return False
    found = hub.get(query)
    if found is None or not _is_of(found, record):
        return False
    leaving = bool(found["metadata"].get("deletionTimestamp"))
    return not leaving and hub.delete(query)


def lease_end(claimed: Manifest) -> datetime.datetime | None:
    """Return when Hive deletes the claim, by its lifetime after a cluster was assigned; None without a lifetime."""
    lifetime, pending = claimed.get("status", {}).get("lifetime"), condition(claimed, "Pending")
    if not lifetime or pending is None or pending.get("status") != "False":
        return None
    return parse_utc(str(pending["lastTransitionTime"])) + datetime.timedelta(seconds=seconds(lifetime))


def _check_running(claimed: Any) -> Verdict:
    found, pending = condition(claimed, "ClusterRunning"), condition(claimed, "Pending")
    # a new claim has no conditions yet
    if found is not None and found.get("status") == "True":
        return Verdict(True)
    entry = pending if pending is not None and pending.get("status") == "True" else found
    note = f"{entry.get('reason', '')}: {entry.get('message', '')}" if entry else "Hive has not processed it yet"
    return Verdict(False, note)


def _lost(progress: Progress, seen: bool, name: str) -> str:
    """Return why the claim or its cluster is lost; empty if it is not."""
    if not progress.objects:
        return f"the ClusterClaim {name} was deleted while its cluster was awaited" if seen else ""
    claimed = progress.objects[0]
    if claimed["metadata"].get("deletionTimestamp"):
        return f"the ClusterClaim {name} is being deleted, by another user or because its lifetime is over"
    running = condition(claimed, "ClusterRunning")
    if running is not None and running.get("reason") in _GONE:
        return f"the cluster of ClusterClaim {name} is gone: {running.get('message', '')}"
    return ""


def _cannot_start(source: Source, claimed: Manifest) -> str:
    """Return why the machines of the claimed cluster do not start; empty if Hive reports no failure."""
    namespace = claimed["spec"].get("namespace")
    if not namespace:
        return ""
    found, _version = source.list(Query(API_VERSION, "ClusterDeployment", namespace=namespace, name=namespace))
    ready = condition(found[0], "Ready") if found else None
    if ready is None or ready.get("reason") != _CANNOT_START:
        return ""
    return f"{_CANNOT_START}: {ready.get('message', '')}"


def _with_pool_state(hub: Cluster, pool: Pool, text: str, result: dict[str, Any]) -> WaitTimeoutError:
    """Return an error with *text* and the state of the pool."""
    found = pool.require(hub)
    status, size = found.get("status", {}), found["spec"].get("maxSize")
    limit = f", {size} at most" if size is not None else ""
    error = WaitTimeoutError(
        f"{text}; pool {pool.name} has {status.get('ready', 0)} clusters running and {status.get('standby', 0)} in "
        f"hibernation, unclaimed{limit}: wait longer, or enlarge the pool"
    )
    error.result = result
    return error


def _record_cluster(hub: Cluster, journal: Journal, claimed: Manifest) -> None:
    namespace = str(claimed["spec"]["namespace"])
    deployment = hub.get(Query(API_VERSION, "ClusterDeployment", namespace=namespace, name=namespace))
    metadata = (deployment or {}).get("spec", {}).get("clusterMetadata") or {}
    kubeconfig = _secret(hub, namespace, (metadata.get("adminKubeconfigSecretRef") or {}).get("name"))
    text = kubeconfig.get(KUBECONFIG) or kubeconfig.get(f"raw-{KUBECONFIG}")
    if not text:
        raise ClusterError(f"the ClusterDeployment {namespace} names no readable Secret with a kubeconfig")
    path = Path(journal.record.folder) / KUBECONFIG
    write_private(path, text)
    end, status = lease_end(claimed), (deployment or {}).get("status", {})
    password = (metadata.get("adminPasswordSecretRef") or {}).get("name")
    journal.note(
        phase=CREATED,
        kubeconfig=str(path),
        api=str(status.get("apiURL", "")),
        console=str(status.get("webConsoleURL", "")),
        password=Password(secret=f"{namespace}/{password}", key="password") if password else Password(),
        expires=utc_text(end) if end else journal.record.expires,
        destruction={**journal.record.destruction, "cluster": namespace},
    )


def _secret(hub: Cluster, namespace: str, name: str | None) -> dict[str, str]:
    found = hub.get(Query("v1", "Secret", namespace=namespace, name=name)) if name else None
    data = (found or {}).get("data") or {}
    return {key: base64.b64decode(value).decode() for key, value in data.items()}


def _claim_manifest(record: ClusterRecord, pool: Pool) -> Manifest:
    annotations = {_OWNER: record.mark, _WHO: record.owner, _TAGS: json.dumps(record.tags)}
    return {
        "apiVersion": API_VERSION,
        "kind": "ClusterClaim",
        "metadata": {
            "name": record.name,
            "namespace": pool.namespace,
            "labels": {**MANAGED_BY},
            "annotations": annotations,
        },
        "spec": {"clusterPoolName": pool.name, "lifetime": f"{seconds(record.time_to_live):.0f}s"},
    }


def _pool_of(record: ClusterRecord) -> Pool:
    return Pool(str(record.destruction["namespace"]), str(record.destruction["pool"]))


def _is_of(found: Manifest, record: ClusterRecord) -> bool:
    return (found["metadata"].get("annotations") or {}).get(_OWNER) == record.mark
