"""Ray's resources, labels and states."""

from __future__ import annotations

from perflab.emulators.framework.resources import Resource

RAY_CLUSTERS = Resource("ray.io", "v1", "rayclusters", "RayCluster")
RAY_JOBS = Resource("ray.io", "v1", "rayjobs", "RayJob")

CLUSTER = "ray.io/cluster"
GROUP = "ray.io/group"
NODE_TYPE = "ray.io/node-type"
ORIGIN = "ray.io/originated-from-cr-name"
HEAD, WORKER = "head", "worker"

# of a RayJob's status: how far its objects are, and how far the job itself is
INITIALIZING, RUNNING, COMPLETE, FAILED = "Initializing", "Running", "Complete", "Failed"
SUSPENDED = "Suspended"
PENDING, SUCCEEDED = "PENDING", "SUCCEEDED"
# of a RayCluster's
READY = "ready"
