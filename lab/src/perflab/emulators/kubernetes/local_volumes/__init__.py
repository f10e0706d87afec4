"""The disk of a real node: a folder for each PersistentVolume that the provisioner `volumes` creates there.

Real: the folder, which the kubelet mounts, and its contents. Emulated: nothing limits its size; it is deleted with the
PersistentVolume, also with one that a user deletes after its class retained it.
"""

from __future__ import annotations

from pathlib import Path

from perflab.emulators.framework.cluster import Cluster
from perflab.emulators.framework.controller import Controller
from perflab.emulators.kubernetes.local_volumes.folders import Folders


def controllers(cluster: Cluster) -> list[Controller]:
    """Return the only controller."""
    return [Folders(cluster, Path.cwd()).controller]
