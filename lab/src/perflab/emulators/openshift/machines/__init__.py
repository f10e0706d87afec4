"""OpenShift's machine API: MachineSets that create Machines, which become nodes.

Emulated: `MachineSet` and `Machine` of `machine.openshift.io/v1beta1`, with the phases Provisioning, Provisioned,
Running, Deleting and Failed, the finalizer of a Machine, the scale subresource of a MachineSet, the counts of its
status, and its order of deletion (annotation `machine.openshift.io/delete-machine`, then Machines that failed). A
Machine of a known instance type (AWS `instanceType`, IBM `profile`) becomes a simulated Node with its CPUs, memory and
disk, with taints and labels of the MachineSet's template and annotations for its GPUs. A type that no cloud has fails,
as do steps that are set to fail. From the start there is the MachineSet `openshift-machine-api/lab-worker`, without
replicas.

Not emulated: a cloud, so no quota, price or end of a spot instance; draining (pods of a deleted Machine are deleted
with its node); MachineHealthChecks, autoscalers, control plane machines; the repair of a Machine whose node was lost.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from perflab.emulators.framework.cluster import Cluster
from perflab.emulators.framework.controller import Controller
from perflab.emulators.framework.initial_objects import InitialObjects
from perflab.emulators.openshift.machines.machine_sets import MachineSets
from perflab.emulators.openshift.machines.machines import Machines

STEPS: Mapping[str, str] = {
    "provision": "from the Machine to its instance: Provisioning to Provisioned; it fails as InsufficientResources",
    "join": "from the instance to its Node: Provisioned to Running; it fails as JoinClusterTimeoutError",
}


def controllers(cluster: Cluster) -> list[Controller]:
    """Return those of MachineSets and Machines, and of the initial objects."""
    start = InitialObjects(cluster, Path(__file__).with_name("initial_objects.yaml"))
    return [MachineSets(cluster).controller, Machines(cluster).controller, start.controller]
