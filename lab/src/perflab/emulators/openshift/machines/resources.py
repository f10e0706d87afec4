"""The kinds, labels and phases of OpenShift's machine API."""

from __future__ import annotations

from perflab.emulators.framework.resources import Resource

_GROUP, _VERSION = "machine.openshift.io", "v1beta1"
MACHINES = Resource(_GROUP, _VERSION, "machines", "Machine")
MACHINE_SETS = Resource(_GROUP, _VERSION, "machinesets", "MachineSet")

FINALIZER = "machine.machine.openshift.io"
# of a Machine that shall be the first to go when its set becomes smaller
DELETE_FIRST = "machine.openshift.io/delete-machine"
# of a Node: whose it is, as namespace/name
MACHINE_OF_NODE = "machine.openshift.io/machine"
TYPE_LABEL, REGION_LABEL, ZONE_LABEL = (f"{_GROUP}/{name}" for name in ("instance-type", "region", "zone"))

PROVISIONING, PROVISIONED, RUNNING = "Provisioning", "Provisioned", "Running"
DELETING, FAILED = "Deleting", "Failed"
