"""A managed cluster, OpenShift Dedicated in an AWS account of one's own, which OpenShift Cluster Manager (OCM) creates.

It has the name of the record and a property that says whose it is, so that it is found again after whatever happened.
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
# workers of a cluster in one availability zone, and zones of one in several, each of which has equally many
_FEWEST, _ZONES = 2, 3


@dataclass(frozen=True, slots=True)
class ManagedPlan:
    """What a managed cluster is to be.

    :param account: number of the AWS account that it is in, with the keys of its user ``osdCcsAdmin``.
    :param release: of OpenShift, such as ``4.18.3``; the newest that OCM offers if empty.
    :param nodes: number of workers; the fewest that OCM accepts if 0.
    :param expires: OCM deletes it when its time to live is over, which not every organization is allowed.
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
        """The fewest workers that OCM accepts."""
        return _ZONES if self.multi_az else _FEWEST

    def check(self) -> None:
        """Refuse what OCM would refuse.

        :raises UsageError: for the first of these.
        """
        if not _ACCOUNT.fullmatch(self.account):
            raise UsageError(f"{self.account!r} is not the number of an AWS account, which has twelve digits")
        if self.nodes and self.nodes < self.fewest_nodes:
            where = " in several availability zones" if self.multi_az else ""
            raise UsageError(f"a managed cluster{where} has {self.fewest_nodes} workers at least, not {self.nodes}")
        if self.multi_az and self.nodes % _ZONES:
            raise UsageError(
                f"a managed cluster in several availability zones has a multiple of {_ZONES} workers, not {self.nodes}"
            )


def body_of(record: ClusterRecord, plan: ManagedPlan) -> dict[str, Any]:
    """What OCM is asked for; the keys of the account in it are secret."""
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
        "properties": {_OWNER: _mark(record)},
        **({"version": {"id": f"openshift-v{plan.release}"}} if plan.release else {}),
        **({"expiration_timestamp": record.expires} if plan.expires else {}),
    }


def is_there(manager: ClusterManager, record: ClusterRecord) -> bool:
    """Whether the cluster of *record* is there, and not being deleted."""
    found = manager.find(record.name)
    return found is not None and _is_of(found, record) and found.get("state") != _LEAVING


def ask(manager: ClusterManager, record: ClusterRecord, plan: ManagedPlan) -> bool:
    """Have OCM create the cluster of a record, unless it does already; whether it did not.

    :raises ClusterError: when its name is another one's, or it is being deleted.
    """
    body = body_of(record, plan)
    found = manager.find(record.name)
    asked = found is None
    if found is None:
        try:
            found = manager.call("POST", CLUSTERS, body)
        except ClusterError:
            # the answer was lost; what was asked for may have come about
            found = manager.find(record.name)
            if found is None:
                raise
    if found is None or not _is_of(found, record):
        raise ClusterError(f"OCM has a cluster {record.name} already, not of {_mark(record)}; choose another name")
    if found.get("state") == _LEAVING:
        raise ClusterError(f"the cluster {record.name} is being deleted; wait for its end, or choose another name")
    return asked


def await_ready(
    manager: ClusterManager,
    journal: Journal,
    timeout_s: float,
    check: Callable[[], None],
    show: Callable[[str], None],
    hide: Callable[[str], None],
) -> None:
    """Wait until the cluster of the noted record is ready; write its kubeconfig, and note all that is known of it.

    :param check: raises when the user asked to stop.
    :param hide: is told of the password.
    :raises ClusterError: when it is gone, or cannot come any more.
    :raises WaitTimeoutError: when time is up.
    """
    record = journal.record

    def look() -> tuple[bool, str]:
        found = manager.find(record.name)
        if found is None or found.get("state") == _LEAVING:
            raise ClusterError(f"the cluster {record.name} was deleted while it was awaited")
        state, said = str(found.get("state")), _said(found)
        if state == _ERROR:
            raise ClusterError(f"OCM could not create the cluster {record.name}: {said}")
        ready = state == _READY and bool((found.get("api") or {}).get("url"))
        return ready, f"{state} {said}".strip()

    poll_until(look, f"the cluster {record.name} was not ready", timeout_s, check, show)
    found = manager.find(record.name) or {}
    credentials = manager.call("GET", f"{CLUSTERS}/{quote(str(found['id']))}/credentials") or {}
    if not credentials.get(KUBECONFIG):
        raise ClusterError(f"OCM returns no kubeconfig of the cluster {record.name}: the token's user may not read it")
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
    """Delete the cluster of a record and wait until it is gone; whether there was one.

    :raises WaitTimeoutError: when time is up.
    """
    found = manager.find(record.name)
    if found is None or not _is_of(found, record):
        return False
    if found.get("state") != _LEAVING:
        manager.call("DELETE", f"{CLUSTERS}/{quote(str(found['id']))}")

    def look() -> tuple[bool, str]:
        left = manager.find(record.name)
        gone = left is None or not _is_of(left, record)
        return gone, "" if left is None else f"{left.get('state')} {_said(left)}".strip()

    poll_until(look, f"the cluster {record.name} was not deleted", timeout_s, check, show)
    return True


def _said(found: dict[str, Any]) -> str:
    status = found.get("status") or {}
    return str(status.get("provision_error_message") or status.get("description") or "")


def _mark(record: ClusterRecord) -> str:
    return f"{record.run}/{record.host}"


def _is_of(found: dict[str, Any], record: ClusterRecord) -> bool:
    return bool((found.get("properties") or {}).get(_OWNER) == _mark(record))
