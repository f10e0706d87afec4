"""Kueue's admission of Jobs and PyTorchJobs, far enough to measure what waits in queues and why.

Emulated: an admission policy that suspends a Job or PyTorchJob with the label `kueue.x-k8s.io/queue-name`; a Workload
for each of them; admission in the order of priority, then age, within the nominal quota of the ClusterQueue
(`BestEffortFIFO` and `StrictFIFO`, several flavors in their order, the node labels of the flavor); preemption
`withinClusterQueue`; the conditions QuotaReserved, Admitted, Evicted, Preempted, Requeued, Finished; the counts in the
status of queues. The names of the API and its fields are Kueue's (v1beta1); fields are not checked. Kubernetes' own
controllers and the training operator make the pods, as with Kueue.

Not emulated: cohorts and borrowing, fair sharing, `namespaceSelector`, admission checks, partial admission, topology,
pods and other kinds of jobs, events other than those of evictions. All that fits is admitted in one go, where Kueue
admits one Workload of each ClusterQueue at a time.
"""

from __future__ import annotations

from perflab.emulators.framework.cluster import Cluster
from perflab.emulators.framework.controller import Controller
from perflab.emulators.queues.kueue.jobs import pytorch_jobs, simple_jobs
from perflab.emulators.queues.kueue.queues import Queues


def controllers(cluster: Cluster) -> list[Controller]:
    """Those of the two kinds of jobs, of admission, and of the queues' status."""
    queues = Queues(cluster)
    return [simple_jobs(cluster).controller, pytorch_jobs(cluster).controller, queues.controller, queues.counter]
