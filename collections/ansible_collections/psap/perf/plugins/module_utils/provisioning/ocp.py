"""A cluster that openshift-install creates on AWS, and destroys by what it said before it created anything."""

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
    """What a cluster is installed with, and where what is not secret of it goes.

    :param artifacts: folder of the command that creates it.
    :param redact: takes secrets out of a text.
    :param hide: is told of a secret that came about.
    """

    plan: InstallPlan
    pull_secret: str
    timeout_s: float
    artifacts: Path
    redact: Callable[[str], str]
    hide: Callable[[str], None]


def aws_environment(folder: Path, credentials: str) -> dict[str, str]:
    """Where the installer finds the credentials of AWS, which go to a file of *folder*, the cluster's own.

    :param credentials: as the program ``aws`` keeps them; empty for what the environment has.
    """
    if not credentials:
        return {}
    path = folder / _CREDENTIALS
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_private(path, credentials if credentials.lstrip().startswith("[") else f"[default]\n{credentials}")
    # variables beat files
    return {"AWS_SHARED_CREDENTIALS_FILE": str(path), "AWS_PROFILE": "default"}


def begun(record: ClusterRecord) -> bool:
    """Whether anything of the cluster may be there already, so that it is destroyed before it is created anew."""
    return record.destruction.get("step") == _CLUSTER


def create(installer: Installer, journal: Journal, installation: Installation) -> None:
    """Create the cluster of the noted record, and note it as created.

    Nothing of it may be there, see :func:`begun`. What it is destroyed by is noted before its creation begins.

    :raises InstallError: when the installer fails; what it gathered is then among the artifacts.
    :raises WaitTimeoutError: when time is up.
    """
    until = time.monotonic() + installation.timeout_s
    folder = Path(journal.record.folder) / INSTALL
    kill_left(folder)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(mode=0o700, parents=True)
    document = install_config(installation.plan, installation.pull_secret)
    write_text(installation.artifacts / "src" / "install-config.yaml", yaml_text({**document, "pullSecret": _HIDDEN}))
    # the installer takes it away
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
        raise PerfError(f"openshift-install {_IGNITION} wrote no {METADATA}: the cluster could not be destroyed again")
    journal.note(destruction={**journal.record.destruction, "step": _CLUSTER, "metadata": metadata})
    try:
        installer.run(folder, _CLUSTER, until - time.monotonic())
    except (InstallError, WaitTimeoutError):
        _gather(installer, folder, installation)
        raise
    finally:
        _hide_password(folder, installation.hide)
    _note_created(installer, journal, folder)


def destroy(installer: Installer, record: ClusterRecord, timeout_s: float) -> bool:
    """Destroy what there is of the cluster of a record; whether there may have been something.

    Its folder need not be there any more: the record has what is needed.

    :raises InstallError: when the installer fails.
    """
    kill_left(Path(record.folder) / INSTALL)
    metadata = record.destruction.get("metadata")
    if not metadata:
        # it was killed before it created anything
        return False
    destroy_by_metadata(installer, Path(record.folder) / DESTROY, metadata, timeout_s)
    return True


def destroy_by_metadata(installer: Installer, folder: Path, metadata: dict[str, Any], timeout_s: float) -> None:
    """Destroy a cluster by *metadata*, in a folder of its own."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    kill_left(folder)
    (folder / METADATA).write_text(json.dumps(metadata), encoding="utf-8")
    installer.run(folder, "destroy cluster", timeout_s)


def tag_metadata(infra_id: str, region: str) -> dict[str, Any]:
    """What a cluster is destroyed by of which nothing is noted: all that is its own in a region."""
    aws = {"region": region, "identifier": [{f"kubernetes.io/cluster/{infra_id}": OWNED}]}
    return {"clusterName": infra_id, "clusterID": "", "infraID": infra_id, "aws": aws}


def _gather(installer: Installer, folder: Path, installation: Installation) -> None:
    """The logs of the bootstrap machine; newer installers gather them themselves. What fails here masks nothing."""
    with contextlib.suppress(PerfError, OSError):
        if not list(folder.glob("log-bundle-*.tar.gz")):
            installer.run(folder, "gather bootstrap", _GATHER_S)
    with contextlib.suppress(OSError, EOFError, ValueError):
        unpack_logs(folder, installation.artifacts / "artifacts" / "bootstrap", installation.redact)


def _hide_password(folder: Path, hide: Callable[[str], None]) -> None:
    path = folder / "auth" / "kubeadmin-password"
    if path.exists():
        hide(path.read_text(encoding="utf-8").strip())


def _note_created(installer: Installer, journal: Journal, folder: Path) -> None:
    kubeconfig, password = folder / "auth" / "kubeconfig", folder / "auth" / "kubeadmin-password"
    if not kubeconfig.exists():
        raise ClusterError(f"openshift-install {_CLUSTER} ended well and wrote no {kubeconfig}")
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
