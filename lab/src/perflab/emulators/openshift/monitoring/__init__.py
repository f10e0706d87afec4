"""OpenShift's own monitoring, as far as commands look at it.

Emulated: the namespaces `openshift-monitoring` and `openshift-user-workload-monitoring`; the Deployment of the
monitoring operator; the StatefulSet `prometheus-k8s` with its pods, Services and Route; the kinds ServiceMonitor,
PodMonitor and PrometheusRule. `enableUserWorkload: true` in the ConfigMap `cluster-monitoring-config` brings the
operator, the Prometheus and the Thanos ruler of users' workloads, with retention and log level of the ConfigMap
`user-workload-monitoring-config`; without it they go. Kubernetes creates the pods, and KWOK simulates them.

Not emulated: what these programs do. Nothing is scraped or stored by them, their Services and their Route lead
nowhere; the lab's own Prometheus, a real one, is a process beside the cluster. No Alertmanager, no Thanos querier, no
other fields of the two ConfigMaps.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from perflab.emulators.framework.cluster import Cluster
from perflab.emulators.framework.controller import Controller
from perflab.emulators.framework.initial_objects import InitialObjects
from perflab.emulators.framework.resources import DEPLOYMENTS, NAMESPACES, ROUTES, SERVICES, STATEFUL_SETS
from perflab.emulators.openshift.monitoring.user_workload import UserWorkloadMonitoring

STEPS: Mapping[str, str] = {
    "user_workload": "from enableUserWorkload to what monitors users' workloads; it fails by images that are not had",
}


def controllers(cluster: Cluster) -> list[Controller]:
    """Those of what is there from the start, and of the monitoring of users' workloads."""
    kinds = (NAMESPACES, DEPLOYMENTS, SERVICES, STATEFUL_SETS, ROUTES)
    start = InitialObjects(cluster, Path(__file__).with_name("initial_objects.yaml"), kinds)
    return [start.controller, UserWorkloadMonitoring(cluster).controller]
