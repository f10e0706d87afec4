"""OpenShift itself: its version, operators and configuration, projects and routes.

Emulated: ClusterVersion, ClusterOperators (33 of them, Available unless the step `operator` says otherwise),
Infrastructure, DNS, Ingress and the configuration of projects (`config.openshift.io/v1`); a Project for each Namespace,
which gets the annotations of security contexts; ProjectRequests, which become Namespaces as the project template of the
configuration says, and are then gone; Routes, which get a host and are admitted. SecurityContextConstraints, Templates
and NetworkAttachmentDefinitions are kept and listed.

Not emulated: updates, the operators' work, users and their rights, builds, anything behind a Route. Nothing checks a
pod against SecurityContextConstraints, and nobody attaches networks. Of a project template, the Project with its labels
and annotations is used, and RoleBindings, LimitRanges, ResourceQuotas and NetworkPolicies.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from perflab.emulators.framework.cluster import Cluster
from perflab.emulators.framework.controller import Controller
from perflab.emulators.framework.initial_objects import InitialObjects
from perflab.emulators.framework.resources import (
    CLUSTER_VERSIONS,
    DEPLOYMENTS,
    DNSES,
    INFRASTRUCTURES,
    INGRESS_CONFIGURATIONS,
    NAMESPACES,
    PROJECT_CONFIGURATIONS,
    SECURITY_CONTEXT_CONSTRAINTS,
)
from perflab.emulators.openshift.platform.operators import Operators
from perflab.emulators.openshift.platform.projects import Projects
from perflab.emulators.openshift.platform.requests import Requests
from perflab.emulators.openshift.platform.routes import Routes

# what a cluster has one or some of from the start
_CONFIGURATION = (
    CLUSTER_VERSIONS,
    INFRASTRUCTURES,
    DNSES,
    INGRESS_CONFIGURATIONS,
    PROJECT_CONFIGURATIONS,
    SECURITY_CONTEXT_CONSTRAINTS,
)

STEPS: Mapping[str, str] = {
    "operator": "from a ClusterOperator that is not Available to one that is; one that fails is Degraded",
    "project": "from the ProjectRequest to the Namespace",
    "route": "from the Route to its admission",
}


def controllers(cluster: Cluster) -> list[Controller]:
    """Those of what is there from the start, of operators, projects, requests for them, and routes."""
    file = Path(__file__).with_name("initial_objects.yaml")
    initial = InitialObjects(cluster, file, (NAMESPACES, DEPLOYMENTS, *_CONFIGURATION))
    parts = (Operators(cluster), Projects(cluster), Requests(cluster), Routes(cluster))
    return [initial.controller, *(part.controller for part in parts)]
