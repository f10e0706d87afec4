"""Volumes of a claim: a folder on the real node, no disk on a simulated one."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from perflab.cluster import real_node
from perflab.cluster.api import Document

from .memory_api import MemoryApi, found, settle

CLAIMS, VOLUMES = "/api/v1/namespaces/default/persistentvolumeclaims", "/api/v1/persistentvolumes"
CLASSES = "/apis/storage.k8s.io/v1/storageclasses"
PROVISIONER = "lab.psap.perf/volumes"


@pytest.fixture(autouse=True)
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a lab, in which the emulators run."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def provisioned(node: str, lab: Path) -> Document:
    """The volume of a claim for whose pod the scheduler has chosen *node*."""
    api = MemoryApi()
    api.put(CLASSES, {"metadata": {"name": "lab"}, "volumeBindingMode": "WaitForFirstConsumer"})
    keys = {"storage-provisioner": PROVISIONER, "selected-node": node}
    annotations = {f"volume.kubernetes.io/{key}": value for key, value in keys.items()}
    resources = {"requests": {"storage": "1Gi"}}
    spec = {"storageClassName": "lab", "accessModes": ["ReadWriteOnce"], "resources": resources}
    api.put(CLAIMS, {"metadata": {"name": "data", "annotations": annotations}, "spec": spec})
    asyncio.run(settle(api, "volumes", lab))
    return found(api, f"{VOLUMES}/pvc-uid-persistentvolumeclaims-data")


def rule_of(volume: Document) -> Document:
    (term,) = volume["spec"]["nodeAffinity"]["required"]["nodeSelectorTerms"]
    (rule,) = term["matchExpressions"]
    return dict(rule)


def test_volume_of_the_real_node_is_a_folder_of_the_lab(lab: Path) -> None:
    volume = provisioned(real_node.NAME, lab)
    assert volume["spec"]["local"] == {"path": f"{lab}/worker/volumes/{volume['metadata']['name']}"}
    assert "hostPath" not in volume["spec"]
    assert rule_of(volume) == {"key": real_node.REAL, "operator": "Exists"}


def test_volume_of_a_simulated_node_keeps_pods_off_the_real_one(lab: Path) -> None:
    volume = provisioned("node-0000", lab)
    assert "local" not in volume["spec"]
    assert rule_of(volume) == {"key": real_node.REAL, "operator": "DoesNotExist"}


def test_folders_follow_the_volumes(lab: Path) -> None:
    root = real_node.volumes_folder(lab)
    (root / "left" / "contents").mkdir(parents=True)
    folder = root / "pvc-1"
    api = MemoryApi()
    api.put(VOLUMES, {"metadata": {"name": "pvc-1"}, "spec": {"local": {"path": str(folder)}}})
    api.put(VOLUMES, {"metadata": {"name": "simulated"}, "spec": {"hostPath": {"path": "/simulated/pvc-2"}}})
    api.put(VOLUMES, {"metadata": {"name": "elsewhere"}, "spec": {"local": {"path": "/mnt/disk"}}})
    seen = []

    async def delete() -> None:
        seen.extend(sorted(each.name for each in root.iterdir()))
        assert folder.stat().st_mode & 0o777 == 0o777
        (folder / "file").write_text("written")
        await api.delete(f"{VOLUMES}/pvc-1")

    asyncio.run(settle(api, "local_volumes", lab, delete))
    assert seen == ["pvc-1"]
    assert not list(root.iterdir())
