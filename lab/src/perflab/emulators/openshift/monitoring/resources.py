"""Names of OpenShift's monitoring."""

from __future__ import annotations

from perflab.emulators.framework.resources import Resource

ROUTES = Resource("route.openshift.io", "v1", "routes", "Route")
CLUSTER, USER_WORKLOAD = "openshift-monitoring", "openshift-user-workload-monitoring"
CLUSTER_CONFIG, USER_WORKLOAD_CONFIG = "cluster-monitoring-config", "user-workload-monitoring-config"
