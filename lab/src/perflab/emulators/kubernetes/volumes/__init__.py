"""The provisioner of the StorageClass `lab`, part of every lab.

Real: the scheduler's choice of a node before the claim is provisioned, the binding of claim and volume, the claims of
generic ephemeral volumes and their end with the pod, all of them Kubernetes' own. Emulated: the provisioner beside
them. It makes an empty PersistentVolume for each claim that Kubernetes asks it to, after the delay that the annotation
`lab.psap.perf/bind-delay` of the claim or of its class tells, and deletes the volume when it is released. Any
StorageClass whose provisioner is `lab.psap.perf/volumes` is served. There is no disk: nothing is stored, no size runs
out, nothing is attached.
"""

from __future__ import annotations

from perflab.emulators.framework.cluster import Cluster
from perflab.emulators.framework.controller import Controller
from perflab.emulators.kubernetes.volumes.provisioner import Provisioner, Reclaimer


def controllers(cluster: Cluster) -> list[Controller]:
    """One for the claims and one for the volumes."""
    return [Provisioner(cluster).controller, Reclaimer(cluster).controller]
