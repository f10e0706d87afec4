"""Run:ai's controllers, far enough that a workload's whole chain of objects and events can be measured.

Emulated: TrainingWorkload and InteractiveWorkload → RunaiJob → pods; DistributedWorkload → PyTorchJob (whose pods the
real training operator makes); the pod grouper, which gives each pod a PodGroup once the pod is there and lets it be
scheduled then; phases and conditions on the way up; deletion on the way down. The groups, versions and names of the
API and the fields that are read are Run:ai's, as far as they are public; a workload's fields are not checked.

Not emulated: Run:ai's scheduler. Kubernetes' own decides, with real gangs for distributed workloads, and with the
priority classes that workloads name. So there is no quota of a project, no fairness between projects and no
reclaiming (Queue objects are stored and not read); a share of a GPU takes the whole GPU; `nodePools`, `nodeType`,
`exposedUrls`, policies, templates (`baseWorkload`) and inference workloads do nothing.
"""

from __future__ import annotations

from perflab.emulators.framework.cluster import Cluster
from perflab.emulators.framework.controller import Controller
from perflab.emulators.queues.runai.groups import Groups
from perflab.emulators.queues.runai.jobs import Jobs
from perflab.emulators.queues.runai.workloads import distributed, interactive, training


def controllers(cluster: Cluster) -> list[Controller]:
    """Those of the three kinds of workloads, of RunaiJobs, and of pods and their groups."""
    groups = Groups(cluster)
    makers = (training(cluster), interactive(cluster), distributed(cluster))
    return [*(maker.controller for maker in makers), Jobs(cluster).controller, groups.grouper, groups.controller]
