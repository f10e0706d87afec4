"""Keep a cluster after its run: mark it by a ConfigMap, and return the commands to use and destroy it."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path

from ansible_collections.psap.perf.plugins.module_utils.base.clock import utc_now
from ansible_collections.psap.perf.plugins.module_utils.kube_api.client import Cluster
from ansible_collections.psap.perf.plugins.module_utils.kube_api.manifests import MANAGED_BY, Manifest
from ansible_collections.psap.perf.plugins.module_utils.kube_api.query import Query
from ansible_collections.psap.perf.plugins.module_utils.provisioning.record import ClusterRecord
from ansible_collections.psap.perf.plugins.module_utils.secrets.references import DIRECTORY, parse_reference

_QUERY = Query("v1", "ConfigMap", namespace="default", name="keep-cluster")


@dataclass(frozen=True, slots=True)
class Commands:
    """Shell lines for a cluster, without secrets; *login* is empty without a password."""

    login: str
    destroy: str


def kept_by(cluster: Cluster) -> str:
    """Return the owner in the cluster's ConfigMap, and since when it is kept; empty without one."""
    found = cluster.get(_QUERY)
    if found is None:
        return ""
    data = found.get("data") or {}
    since = data.get("since") or found["metadata"].get("creationTimestamp", "")
    return f"{data.get('owner') or 'an unknown owner'}, since {since}"


def keep_manifest(record: ClusterRecord, owner: str, commands: Commands) -> Manifest:
    """Return the ConfigMap; after it is deleted, the cluster may be destroyed."""
    data = {"owner": owner or record.owner, "since": utc_now(), "until": record.expires, "run": record.run}
    use = {"console": record.console, "login": commands.login, "destroy": commands.destroy}
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": _QUERY.name, "namespace": _QUERY.namespace, "labels": dict(MANAGED_BY)},
        "data": {**data, **{name: value for name, value in use.items() if value}},
    }


def keep(cluster: Cluster, record: ClusterRecord, owner: str, commands: Commands) -> bool:
    """Create the ConfigMap unless it exists, and return whether it was created."""
    if cluster.get(_QUERY) is not None:
        return False
    cluster.apply(keep_manifest(record, owner, commands))
    return True


def destroy_command(path: Path, site: str) -> str:
    """Return a shell line that destroys the cluster even if it is kept."""
    named = ["--site", site] if site else []
    return shlex.join(["perfdrv", "toolbox", "cluster", "destroy", *named, "--record", str(path), "--kept", "destroy"])


def login_command(record: ClusterRecord, admin: str = "", reference: str = "") -> str:
    """Return a shell line that reads the password and logs in as an administrator; empty without a password.

    Args:
        admin: The user; empty for the installer's.
        reference: Reference to the password of *admin*; if only Ansible can read it, ``oc`` asks for it.
    """
    login = f"oc login {shlex.quote(record.api)} --username {shlex.quote(admin or record.password.user)}"
    read = _read_reference(reference) if admin else _read_password(record)
    if admin and not read:
        return login
    return f'{login} --password "{read}"' if read else ""


def _read_password(record: ClusterRecord) -> str:
    password, hub = record.password, (record.destruction.get("hub") or {}).get("perf_kubeconfig")
    if password.file:
        return f"$(cat {shlex.quote(password.file)})"
    if password.secret:
        namespace, _slash, name = password.secret.partition("/")
        words = ["oc", *(["--kubeconfig", str(hub)] if hub else []), "-n", namespace, "get", "secret", name]
        return f"$({shlex.join(words)} -o jsonpath={{.data.{password.key}}} | base64 -d)"
    return ""


def _read_reference(text: str) -> str:
    reference = parse_reference(text)
    reading = {"file": f'$(cat "${DIRECTORY}"/{shlex.quote(reference.name)})', "env": f"${reference.name}"}
    return reading.get(reference.kind, "")
