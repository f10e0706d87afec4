"""Create a managed cluster, OpenShift Dedicated in the user's AWS account, by OpenShift Cluster Manager (OCM).

It has the name of the record and a property with its owner, so that it is found again after a failure.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError, UsageError
from ansible_collections.psap.perf.plugins.module_utils.exporting.places import Keys
from ansible_collections.psap.perf.plugins.module_utils.openshift.cluster_manager import CLUSTERS, ClusterManager
from ansible_collections.psap.perf.plugins.module_utils.provisioning.install_config import check_tags, user_tags
from ansible_collections.psap.perf.plugins.module_utils.provisioning.record import (
    CREATED,
    KUBECONFIG,
    ClusterRecord,
    Journal,
    Password,
    write_private,
)
from ansible_collections.psap.perf.plugins.module_utils.waiting.polling import poll_until

_PASSWORD = "kubeadmin-password"  # noqa: S105 - the name of a file
_OWNER = "psap_perf_cluster"
_READY, _ERROR, _LEAVING = "ready", "error", "uninstalling"
_ACCOUNT = re.compile(r"\d{12}")
# minimum workers of a cluster in one zone, and zones of a multi-zone cluster, each with the same number of workers
_FEWEST, _ZONES = 2, 3


@dataclass(frozen=True, slots=True)
class ManagedPlan:
    """A plan of a managed cluster.

    Args:
        account: Number of its AWS account.
        keys: Keys of the account's user ``osdCcsAdmin``.
        release: Release of OpenShift, such as ``4.18.3``; empty for the newest that OCM offers.
        nodes: Number of workers; 0 for the minimum that OCM accepts.
        expires: OCM deletes it after its time to live, which not every organization may request.
    """

    account: str
    keys: Keys = field(repr=False)
    region: str = "us-east-1"
    release: str = ""
    machine_type: str = "m5.xlarge"
    nodes: int = 0
    multi_az: bool = False
    expires: bool = True

    @property
    def fewest_nodes(self) -> int:
        """Return the minimum number of workers that OCM accepts."""
        return _ZONES if self.multi_az else _FEWEST

    def check(self) -> None:
        """Raise a UsageError for the first field that OCM would refuse."""
        if not _ACCOUNT.fullmatch(self.account):
            raise UsageError(f"{self.account!r} is not the number of an AWS account, which has twelve digits")
        if self.nodes and self.nodes < self.fewest_nodes:
            where = " in several availability zones" if self.multi_az else ""
            raise UsageError(f"a managed cluster{where} has at least {self.fewest_nodes} workers, not {self.nodes}")
        if self.multi_az and self.nodes % _ZONES:
            raise UsageError(
                f"a managed cluster in several availability zones has a multiple of {_ZONES} workers, not {self.nodes}"
            )


def body_of(record: ClusterRecord, plan: ManagedPlan) -> dict[str, Any]:
    """Return the request to OCM, which contains the account's secret keys."""
    plan.check()
    tags = user_tags(record.tags, record.owner, record.created, record.time_to_live)
    check_tags(tags)
    return {
        "name": record.name,
        "product": {"id": "osd"},
        "cloud_provider": {"id": "aws"},
        "region": {"id": plan.region},
        "multi_az": plan.multi_az,
        "ccs": {"enabled": True},
        "aws": {
            "account_id": plan.account,
            "access_key_id": plan.keys.identity,
            "secret_access_key": plan.keys.secret,
            "tags": tags,
        },
        "nodes": {"compute": plan.nodes or plan.fewest_nodes, "compute_machine_type": {"id": plan.machine_type}},
        "properties": {_OWNER: record.mark},
        **({"version": {"id": f"openshift-v{plan.release}"}} if plan.release else {}),
        **({"expiration_timestamp": record.expires} if plan.expires else {}),
    }


def exists(manager: ClusterManager, record: ClusterRecord) -> bool:
    """Return whether the cluster of *record* exists, and is not being deleted."""
    found = manager.find(record.name)
    return found is not None and _is_of(found, record) and found.get("state") != _LEAVING


def request(manager: ClusterManager, record: ClusterRecord, plan: ManagedPlan) -> bool:
    """Request the cluster of a record from OCM unless it exists, and return whether it was missing.

    Raises:
        ClusterError: If another owner's cluster has its name, or it is being deleted.
    """
    body = body_of(record, plan)
    found = manager.find(record.name)
    missing = found is None
    if found is None:
        try:
            found = manager.call("POST", CLUSTERS, body)
        except ClusterError:
            # without a response, the cluster may have been created
            found = manager.find(record.name)
            if found is None:
                raise
    if found is None or not _is_of(found, record):
        raise ClusterError(f"OCM has a cluster {record.name} that {record.mark} did not create; choose another name")
    if found.get("state") == _LEAVING:
        raise ClusterError(f"the cluster {record.name} is being deleted; wait for its end, or choose another name")
    return missing


def await_ready(
    manager: ClusterManager,
    journal: Journal,
    timeout_s: float,
    check: Callable[[], None],
    show: Callable[[str], None],
    hide: Callable[[str], None],
) -> None:
    """Wait until the cluster of the record is ready; write its kubeconfig, and complete its record.

    Args:
        check: Raises Interrupted if the user stops the run.
        hide: Called with the password.

    Raises:
        ClusterError: If it was deleted, or its creation failed.
        WaitTimeoutError: If it is not ready in time.
    """
    record = journal.record

    def read_state() -> tuple[bool, str]:
        found = manager.find(record.name)
        if found is None or found.get("state") == _LEAVING:
            raise ClusterError(f"the cluster {record.name} was deleted while it was awaited")
        state, reason = str(found.get("state")), _reason(found)
        if state == _ERROR:
            raise ClusterError(f"OCM could not create the cluster {record.name}: {reason}")
        ready = state == _READY and bool((found.get("api") or {}).get("url"))
        return ready, f"{state} {reason}".strip()

    poll_until(read_state, f"the cluster {record.name} was not ready", timeout_s, check, show)
    found = manager.find(record.name) or {}
    credentials = manager.call("GET", f"{CLUSTERS}/{quote(str(found['id']))}/credentials") or {}
    if not credentials.get(KUBECONFIG):
        raise ClusterError(
            f"OCM returned no kubeconfig of {record.name}: the token's user has no permission to read it"
        )
    kubeconfig, admin = Path(record.folder) / KUBECONFIG, credentials.get("admin") or {}
    write_private(kubeconfig, str(credentials[KUBECONFIG]))
    password = Password()
    if admin.get("password"):
        hide(str(admin["password"]))
        path = Path(record.folder) / _PASSWORD
        write_private(path, str(admin["password"]))
        password = Password(user=str(admin.get("user") or password.user), file=str(path))
    journal.note(
        phase=CREATED,
        kubeconfig=str(kubeconfig),
        api=str(found["api"]["url"]),
        console=str((found.get("console") or {}).get("url") or ""),
        password=password,
        destruction={**record.destruction, "id": str(found["id"])},
    )


def delete(
    manager: ClusterManager,
    record: ClusterRecord,
    timeout_s: float,
    check: Callable[[], None],
    show: Callable[[str], None],
) -> bool:
    """Delete the cluster of a record, wait until it no longer exists, and return whether it existed.

    Raises:
        WaitTimeoutError: If it is not deleted in time.
    """
    found = manager.find(record.name)
    if found is None or not _is_of(found, record):
        return False
    if found.get("state") != _LEAVING:
        manager.call("DELETE", f"{CLUSTERS}/{quote(str(found['id']))}")

    def read_state() -> tuple[bool, str]:
        left = manager.find(record.name)
        gone = left is None or not _is_of(left, record)
        return gone, "" if left is None else f"{left.get('state')} {_reason(left)}".strip()

    poll_until(read_state, f"the cluster {record.name} was not deleted", timeout_s, check, show)
    return True


def _reason(found: dict[str, Any]) -> str:
    status = found.get("status") or {}
    return str(status.get("provision_error_message") or status.get("description") or "")


def _is_of(found: dict[str, Any], record: ClusterRecord) -> bool:
    return bool((found.get("properties") or {}).get(_OWNER) == record.mark)
