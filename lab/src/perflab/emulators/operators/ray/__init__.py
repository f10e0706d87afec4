"""KubeRay's RayCluster and RayJob (`ray.io/v1`), far enough to run jobs and to fail as they do.

Emulated: a RayCluster's head and worker pods (with KubeRay's names, labels and init container), the head's service, its
status (`state`, counts, desired resources, `head`, the conditions HeadPodReady and RayClusterProvisioned), `suspend`; a
RayJob's cluster, the Job that submits it once the cluster is ready (`submitterPodTemplate`, `submitterConfig`), its
status (`jobDeploymentStatus`, `jobStatus`, `rayClusterName`, `jobId`, `dashboardURL`, `startTime`, `endTime`, `reason`,
`message`, `succeeded`, `failed`), `activeDeadlineSeconds`, `suspend`, `shutdownAfterJobFinishes` with
`ttlSecondsAfterFinished`. A job ends as the pod of its submitter does, whose life the lab's annotations tell; when it
loses its head or a worker, that pod fails, as Ray Train's driver does.

Not emulated: Ray itself, so no dashboard and no program; RayService, the autoscaler, `clusterSelector`, the submission
modes HTTPMode and UserMode, `backoffLimit` of a RayJob (it fails at the first failure), ingresses and routes.
"""

from __future__ import annotations

from collections.abc import Mapping

from perflab.emulators.framework.cluster import Cluster
from perflab.emulators.framework.controller import Controller
from perflab.emulators.operators.ray.clusters import Clusters
from perflab.emulators.operators.ray.jobs import RayJobs

STEPS: Mapping[str, str] = {
    "cluster": "from the RayCluster to its pods; it fails with the state failed",
    "job": "from a cluster that is ready to the RayJob's submission; it fails as AppFailed",
}


def controllers(cluster: Cluster) -> list[Controller]:
    """Those of RayClusters and RayJobs."""
    return [Clusters(cluster).controller, RayJobs(cluster).controller]
