"""Kueue's resources, labels and conditions."""

from __future__ import annotations

from perflab.emulators.framework.resources import Resource

_GROUP, _VERSION = "kueue.x-k8s.io", "v1beta1"
FLAVORS = Resource(_GROUP, _VERSION, "resourceflavors", "ResourceFlavor")
CLUSTER_QUEUES = Resource(_GROUP, _VERSION, "clusterqueues", "ClusterQueue")
LOCAL_QUEUES = Resource(_GROUP, _VERSION, "localqueues", "LocalQueue")
WORKLOADS = Resource(_GROUP, _VERSION, "workloads", "Workload")
WORKLOAD_PRIORITIES = Resource(_GROUP, _VERSION, "workloadpriorityclasses", "WorkloadPriorityClass")

QUEUE_LABEL = "kueue.x-k8s.io/queue-name"
PRIORITY_LABEL = "kueue.x-k8s.io/priority-class"
JOB_UID_LABEL = "kueue.x-k8s.io/job-uid"

QUOTA_RESERVED, ADMITTED, EVICTED = "QuotaReserved", "Admitted", "Evicted"
PREEMPTED, REQUEUED, FINISHED = "Preempted", "Requeued", "Finished"
