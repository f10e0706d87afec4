"""Makes the volumes that claims wait for, and deletes those that were released."""

from __future__ import annotations

import time

from perflab.cluster.api import Document
from perflab.emulators.framework.cluster import Cluster
from perflab.emulators.framework.controller import Controller
from perflab.emulators.framework.documents import is_leaving, own_annotations, phase_of
from perflab.emulators.framework.resources import PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, STORAGE_CLASSES
from perflab.emulators.framework.store import Key, key_of
from perflab.emulators.framework.units import parse_duration

PROVISIONER = "lab.psap.perf/volumes"
BIND_DELAY = "lab.psap.perf/bind-delay"
# Kubernetes writes it on a claim once the provisioner shall act: with a node chosen, where that is waited for
_WANTED = "volume.kubernetes.io/storage-provisioner"
_SELECTED_NODE = "volume.kubernetes.io/selected-node"
_PROVISIONED_BY = "pv.kubernetes.io/provisioned-by"


class Provisioner:
    """One PersistentVolume for each claim."""

    def __init__(self, cluster: Cluster) -> None:
        """Over the cluster's claims, volumes and classes."""
        self._cluster = cluster
        self._claims = cluster.store(PERSISTENT_VOLUME_CLAIMS)
        self._volumes = cluster.store(PERSISTENT_VOLUMES)
        self._classes = cluster.store(STORAGE_CLASSES)
        self._asked: dict[str, float] = {}
        self.controller = Controller("claim", self._provision)
        self._claims.listen(self._changed)

    def _changed(self, old: Document | None, new: Document | None) -> None:
        if new is not None:
            self.controller.enqueue(key_of(new))
        elif old is not None:
            self._asked.pop(old["metadata"]["uid"], None)

    async def _provision(self, key: Key) -> float | None:
        claim = self._claims.get(key)
        if claim is None or not self._is_wanted(claim):
            return None
        uid = claim["metadata"]["uid"]
        wait_s = self._asked.setdefault(uid, time.monotonic()) + self._delay_s(claim) - time.monotonic()
        if wait_s > 0:
            return wait_s
        volume = self._volume(claim)
        if await self._volumes.create(volume) is not None:
            message = f"Successfully provisioned volume {volume['metadata']['name']}"
            await self._cluster.event(PERSISTENT_VOLUME_CLAIMS, claim, "ProvisioningSucceeded", message)
        return None

    def _is_wanted(self, claim: Document) -> bool:
        annotations = own_annotations(claim)
        if claim["spec"].get("volumeName") or is_leaving(claim):
            return False
        waits = self._class(claim).get("volumeBindingMode") == "WaitForFirstConsumer"
        return annotations.get(_WANTED) == PROVISIONER and (not waits or _SELECTED_NODE in annotations)

    def _class(self, claim: Document) -> Document:
        return self._classes.get(("", claim["spec"].get("storageClassName", ""))) or {}

    def _delay_s(self, claim: Document) -> float:
        for document in (claim, self._class(claim)):
            annotations = document.get("metadata", {}).get("annotations") or {}
            delay_s = parse_duration(annotations.get(BIND_DELAY))
            if delay_s is not None:
                return delay_s
        return 0.0

    def _volume(self, claim: Document) -> Document:
        metadata, spec = claim["metadata"], claim["spec"]
        # the name says for which claim it is: made twice, it is one
        name = f"pvc-{metadata['uid']}"
        return {
            "metadata": {"name": name, "annotations": {_PROVISIONED_BY: PROVISIONER, **self._cluster.mark()}},
            "spec": {
                "capacity": {"storage": spec["resources"]["requests"]["storage"]},
                "accessModes": spec["accessModes"],
                "volumeMode": spec.get("volumeMode", "Filesystem"),
                "storageClassName": spec["storageClassName"],
                "persistentVolumeReclaimPolicy": self._class(claim).get("reclaimPolicy", "Delete"),
                "claimRef": {
                    "apiVersion": "v1",
                    "kind": "PersistentVolumeClaim",
                    "namespace": metadata["namespace"],
                    "name": metadata["name"],
                    "uid": metadata["uid"],
                },
                # a kind of volume that nothing attaches
                "hostPath": {"path": f"/simulated/{name}"},
            },
        }


class Reclaimer:
    """Deletes the volumes whose claims are gone."""

    def __init__(self, cluster: Cluster) -> None:
        """Over the cluster's volumes."""
        self._volumes = cluster.store(PERSISTENT_VOLUMES)
        self.controller = Controller("volume", self._reclaim)
        self.controller.follow(self._volumes)

    async def _reclaim(self, key: Key) -> float | None:
        volume = self._volumes.get(key)
        if volume is not None and _is_released(volume):
            await self._volumes.delete(key)
        return None


def _is_released(volume: Document) -> bool:
    annotations = own_annotations(volume)
    return (
        annotations.get(_PROVISIONED_BY) == PROVISIONER
        and volume["spec"].get("persistentVolumeReclaimPolicy") == "Delete"
        and phase_of(volume) == "Released"
        and not is_leaving(volume)
    )
