"""A cluster of a pool of Hive: claimed, awaited, its kubeconfig read, and released.

What is claimed has the name of the record and says whose it is, so that it is found again after whatever happened.
Hive itself deletes a claim whose lifetime is over, and the cluster with it.
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
    """The claim, or the cluster that it had, was deleted by somebody else, or its lifetime is over."""


@dataclass(frozen=True, slots=True)
class Pool:
    """A pool, on the cluster where Hive runs."""

    namespace: str
    name: str

    def claim(self, name: str) -> Query:
        """A claim of one of its clusters."""
        return Query(API_VERSION, "ClusterClaim", namespace=self.namespace, name=name)

    def require(self, hub: Cluster) -> Manifest:
        """The pool.

        :raises ClusterError: when there is none; it names those that there are.
        """
        if not hub.serves(API_VERSION, "ClusterPool"):
            raise ClusterError(f"{hub.server} serves no ClusterPool: Hive does not run there; name its kubeconfig")
        found = hub.get(Query(API_VERSION, "ClusterPool", namespace=self.namespace, name=self.name))
        if found is None:
            others, _version = hub.list(Query(API_VERSION, "ClusterPool", namespace=self.namespace))
            names = ", ".join(sorted(each["metadata"]["name"] for each in others)) or "none"
            raise ClusterError(f"no ClusterPool {self.name} in namespace {self.namespace}; known: {names}")
        return found


def is_claimed(hub: Cluster, record: ClusterRecord) -> bool:
    """Whether the claim of *record* is still there."""
    found = hub.get(_pool_of(record).claim(record.name))
    return found is not None and _is_of(found, record) and not found["metadata"].get("deletionTimestamp")


def claim(hub: Cluster, journal: Journal) -> bool:
    """Claim a cluster for the noted record, unless it is claimed already; whether it was not.

    :raises ClusterError: when there is no such pool, or the name is another one's claim.
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
            f"there is a ClusterClaim {record.name} in {pool.namespace} already, which is not of {_mark(record)}; "
            "choose another name"
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
    """Wait until the claimed cluster runs; then write its kubeconfig, and note all that is known of it.

    :param patience_s: how long a cluster whose machines cannot be started is tried again by Hive.
    :param check: raises when the user asked to stop.
    :raises ClaimLostError: when the claim or its cluster is deleted meanwhile.
    :raises NotReachedError: when time is up, or the cluster cannot come any more.
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
        states=(_running,),
        timeout_s=timeout_s,
        patience_s=patience_s,
        surrender=_cannot_start,
    )
    try:
        progress = wait_for(hub, goal, check, report)
    except NotReachedError as error:
        found = {"objects": [each["metadata"]["name"] for each in error.result["objects"]]}
        raise _explained(hub, pool, str(error), found) from error
    _note_cluster(hub, journal, progress.objects[0])


def release(hub: Cluster, record: ClusterRecord) -> bool:
    """Delete the claim, with which Hive deletes the cluster; whether there was one that was not leaving yet."""
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
    """When Hive deletes the claim: so long after a cluster was assigned; None where it never does."""
    lifetime, pending = claimed.get("status", {}).get("lifetime"), condition(claimed, "Pending")
    if not lifetime or pending is None or pending.get("status") != "False":
        return None
    return parse_utc(str(pending["lastTransitionTime"])) + datetime.timedelta(seconds=seconds(lifetime))


def _running(claimed: Any) -> Verdict:
    found, pending = condition(claimed, "ClusterRunning"), condition(claimed, "Pending")
    # of a new claim Hive says nothing yet
    if found is not None and found.get("status") == "True":
        return Verdict(True)
    entry = pending if pending is not None and pending.get("status") == "True" else found
    said = f"{entry.get('reason', '')}: {entry.get('message', '')}" if entry else "Hive has not processed it yet"
    return Verdict(False, said)


def _lost(progress: Progress, seen: bool, name: str) -> str:
    """What was lost, or nothing."""
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
    """Why the machines of the claimed cluster do not start."""
    namespace = claimed["spec"].get("namespace")
    if not namespace:
        return ""
    found, _version = source.list(Query(API_VERSION, "ClusterDeployment", namespace=namespace, name=namespace))
    ready = condition(found[0], "Ready") if found else None
    if ready is None or ready.get("reason") != _CANNOT_START:
        return ""
    return f"{_CANNOT_START}: {ready.get('message', '')}"


def _explained(hub: Cluster, pool: Pool, said: str, result: dict[str, Any]) -> WaitTimeoutError:
    """With the state of the pool, which is what people ask for next."""
    found = pool.require(hub)
    status, size = found.get("status", {}), found["spec"].get("maxSize")
    limit = f", {size} at most" if size is not None else ""
    error = WaitTimeoutError(
        f"{said}; pool {pool.name} has {status.get('ready', 0)} clusters running and {status.get('standby', 0)} in "
        f"hibernation, unclaimed{limit}: wait longer, or enlarge the pool"
    )
    error.result = result
    return error


def _note_cluster(hub: Cluster, journal: Journal, claimed: Manifest) -> None:
    namespace = str(claimed["spec"]["namespace"])
    deployment = hub.get(Query(API_VERSION, "ClusterDeployment", namespace=namespace, name=namespace))
    metadata = (deployment or {}).get("spec", {}).get("clusterMetadata") or {}
    kubeconfig = _secret(hub, namespace, (metadata.get("adminKubeconfigSecretRef") or {}).get("name"))
    text = kubeconfig.get(KUBECONFIG) or kubeconfig.get(f"raw-{KUBECONFIG}")
    if not text:
        raise ClusterError(f"the ClusterDeployment {namespace} names no Secret with a kubeconfig that can be read")
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
    said = {_OWNER: _mark(record), _WHO: record.owner, _TAGS: json.dumps(record.tags)}
    return {
        "apiVersion": API_VERSION,
        "kind": "ClusterClaim",
        "metadata": {
            "name": record.name,
            "namespace": pool.namespace,
            "labels": {**MANAGED_BY},
            "annotations": said,
        },
        "spec": {"clusterPoolName": pool.name, "lifetime": f"{seconds(record.time_to_live):.0f}s"},
    }


def _pool_of(record: ClusterRecord) -> Pool:
    return Pool(str(record.destruction["namespace"]), str(record.destruction["pool"]))


def _mark(record: ClusterRecord) -> str:
    return f"{record.run}/{record.host}"


def _is_of(found: Manifest, record: ClusterRecord) -> bool:
    return (found["metadata"].get("annotations") or {}).get(_OWNER) == _mark(record)
