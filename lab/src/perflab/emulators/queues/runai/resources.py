"""Run:ai's resources, and how its objects find each other."""

from __future__ import annotations

from perflab.emulators.framework.resources import Resource

TRAININGS = Resource("run.ai", "v2alpha1", "trainingworkloads", "TrainingWorkload")
INTERACTIVES = Resource("run.ai", "v2alpha1", "interactiveworkloads", "InteractiveWorkload")
DISTRIBUTEDS = Resource("run.ai", "v2alpha1", "distributedworkloads", "DistributedWorkload")
RUNAI_JOBS = Resource("run.ai", "v1", "runaijobs", "RunaiJob")
POD_GROUPS = Resource("scheduling.run.ai", "v2alpha2", "podgroups", "PodGroup")

# on everything below a workload: the name of the workload
WORKLOAD_NAME = "workloadName"
# on everything below a workload: the name of the RunaiJob or PyTorchJob
RELEASE = "release"
# on a pod: which PodGroup it is in
GROUP_ANNOTATION = "pod-group-name"
# holds a pod back until it is in a group
GATE = "run.ai/pod-group"
# the lab's label that puts a pod into a gang of the real scheduler
GANG_LABEL = "lab.psap.perf/pod-group"
