"""Create a cluster on AWS by openshift-install, and destroy it by metadata that are recorded before its creation."""

from __future__ import annotations

import contextlib
import json
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from ansible_collections.psap.perf.plugins.module_utils.base.documents import read_yaml, write_text, yaml_text
from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError, PerfError, WaitTimeoutError
from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.kubeconfigs import checked_server
from ansible_collections.psap.perf.plugins.module_utils.provisioning.aws import OWNED
from ansible_collections.psap.perf.plugins.module_utils.provisioning.install_config import (
    InstallPlan,
    changed_manifests,
    install_config,
)
from ansible_collections.psap.perf.plugins.module_utils.provisioning.installer import (
    METADATA,
    Installer,
    InstallError,
    kill_left,
    read_manifests,
    read_metadata,
    unpack_logs,
    write_manifests,
)
from ansible_collections.psap.perf.plugins.module_utils.provisioning.record import (
    CREATED,
    ClusterRecord,
    Journal,
    Password,
    write_private,
)

INSTALL, DESTROY = "install", "destroy"
_MANIFESTS, _IGNITION, _CLUSTER = "create manifests", "create ignition-configs", "create cluster"
_CREDENTIALS = "aws-credentials"
_HIDDEN = "(secret)"
_PREPARE_S, _GATHER_S = 600.0, 900.0


@dataclass(frozen=True, slots=True)
class Installation:
    """The inputs of an installation.

    Args:
        artifacts: Folder of the command, for files without secrets.
        redact: Removes secrets from a text.
        hide: Called with a new secret.
    """

    plan: InstallPlan
    pull_secret: str
    timeout_s: float
    artifacts: Path
    redact: Callable[[str], str]
    hide: Callable[[str], None]


def aws_environment(folder: Path, credentials: str) -> dict[str, str]:
    """Write the credentials of AWS to a file in *folder*, and return the variables that name it.

    Args:
        credentials: In the format of the program ``aws``; empty for those of the environment.
    """
    if not credentials:
        return {}
    path = folder / _CREDENTIALS
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_private(path, credentials if credentials.lstrip().startswith("[") else f"[default]\n{credentials}")
    # variables take precedence over files
    return {"AWS_SHARED_CREDENTIALS_FILE": str(path), "AWS_PROFILE": "default"}


def begun(record: ClusterRecord) -> bool:
    """Return whether resources of the cluster may exist, which must be destroyed before it is created again."""
    return record.destruction.get("step") == _CLUSTER


def create(installer: Installer, journal: Journal, installation: Installation) -> None:
    """Create the cluster of the record, and record it as created.

    None of its resources may exist, see :func:`begun`. Its metadata are recorded before its creation begins.

    Raises:
        InstallError: If the installer fails; gathered logs are then among the artifacts.
        WaitTimeoutError: If it is not created in time.
    """
    until = time.monotonic() + installation.timeout_s
    folder = Path(journal.record.folder) / INSTALL
    kill_left(folder)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(mode=0o700, parents=True)
    document = install_config(installation.plan, installation.pull_secret)
    write_text(installation.artifacts / "src" / "install-config.yaml", yaml_text({**document, "pullSecret": _HIDDEN}))
    # the installer deletes this file
    write_private(folder / "install-config.yaml", yaml_text(document))
    for step in (_MANIFESTS, _IGNITION):
        journal.note(destruction={**journal.record.destruction, "step": step})
        installer.run(folder, step, min(_PREPARE_S, until - time.monotonic()))
        if step == _MANIFESTS:
            changed = changed_manifests(installation.plan, read_manifests(folder))
            write_manifests(folder, changed)
            for path, manifest in changed.items():
                target = installation.artifacts / "src" / path
                target.parent.mkdir(parents=True, exist_ok=True)
                write_text(target, yaml_text(manifest))
    metadata = read_metadata(folder)
    if not metadata:
        raise PerfError(f"openshift-install {_IGNITION} wrote no {METADATA}, without which no cluster can be destroyed")
    journal.note(destruction={**journal.record.destruction, "step": _CLUSTER, "metadata": metadata})
    try:
        installer.run(folder, _CLUSTER, until - time.monotonic())
    except (InstallError, WaitTimeoutError):
        _gather(installer, folder, installation)
        raise
    finally:
        _hide_password(folder, installation.hide)
    _record_created(installer, journal, folder)


def destroy(installer: Installer, record: ClusterRecord, timeout_s: float) -> bool:
    """Destroy the resources of a record's cluster, and return whether any may have existed.

    The record suffices; the folder of the cluster may be missing.

    Raises:
        InstallError: If the installer fails.
    """
    kill_left(Path(record.folder) / INSTALL)
    metadata = record.destruction.get("metadata")
    if not metadata:
        # it was killed before it created any resource
        return False
    destroy_by_metadata(installer, Path(record.folder) / DESTROY, metadata, timeout_s)
    return True


def destroy_by_metadata(installer: Installer, folder: Path, metadata: dict[str, Any], timeout_s: float) -> None:
    """Destroy a cluster by *metadata*, in a dedicated folder."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    kill_left(folder)
    (folder / METADATA).write_text(json.dumps(metadata), encoding="utf-8")
    installer.run(folder, "destroy cluster", timeout_s)


def tag_metadata(infra_id: str, region: str) -> dict[str, Any]:
    """Return metadata for destroying a cluster without a record: all its resources in a region."""
    aws = {"region": region, "identifier": [{f"kubernetes.io/cluster/{infra_id}": OWNED}]}
    return {"clusterName": infra_id, "clusterID": "", "infraID": infra_id, "aws": aws}


def _gather(installer: Installer, folder: Path, installation: Installation) -> None:
    """Gather the logs of the bootstrap machine unless the installer did, and ignore failures."""
    with contextlib.suppress(PerfError, OSError):
        if not list(folder.glob("log-bundle-*.tar.gz")):
            installer.run(folder, "gather bootstrap", _GATHER_S)
    with contextlib.suppress(OSError, EOFError, ValueError):
        unpack_logs(folder, installation.artifacts / "artifacts" / "bootstrap", installation.redact)


def _hide_password(folder: Path, hide: Callable[[str], None]) -> None:
    path = folder / "auth" / "kubeadmin-password"
    if path.exists():
        hide(path.read_text(encoding="utf-8").strip())


def _record_created(installer: Installer, journal: Journal, folder: Path) -> None:
    kubeconfig, password = folder / "auth" / "kubeconfig", folder / "auth" / "kubeadmin-password"
    if not kubeconfig.exists():
        raise ClusterError(f"openshift-install {_CLUSTER} succeeded, but wrote no {kubeconfig}")
    try:
        server = str(read_yaml(kubeconfig)["clusters"][0]["cluster"]["server"])
    except (KeyError, IndexError, TypeError, yaml.YAMLError) as error:
        raise ClusterError(f"{kubeconfig} names no server") from error
    for path in (kubeconfig, password):
        if path.exists():
            path.chmod(0o600)
    journal.note(
        phase=CREATED,
        kubeconfig=str(kubeconfig),
        api=checked_server(server),
        console=installer.console,
        password=Password(file=str(password)) if password.exists() else Password(),
    )
