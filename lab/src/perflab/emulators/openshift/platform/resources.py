"""OpenShift's own kinds."""

from __future__ import annotations

from perflab.emulators.framework.resources import Resource

_CONFIG, _PROJECT = "config.openshift.io", "project.openshift.io"
CLUSTER_VERSIONS = Resource(_CONFIG, "v1", "clusterversions", "ClusterVersion")
CLUSTER_OPERATORS = Resource(_CONFIG, "v1", "clusteroperators", "ClusterOperator")
INFRASTRUCTURES = Resource(_CONFIG, "v1", "infrastructures", "Infrastructure")
DNSES = Resource(_CONFIG, "v1", "dnses", "DNS")
INGRESSES = Resource(_CONFIG, "v1", "ingresses", "Ingress")
PROJECT_CONFIGURATIONS = Resource(_CONFIG, "v1", "projects", "Project")
CONSTRAINTS = Resource("security.openshift.io", "v1", "securitycontextconstraints", "SecurityContextConstraints")
# what a cluster has one or some of from the start
CONFIGURATION = (CLUSTER_VERSIONS, INFRASTRUCTURES, DNSES, INGRESSES, PROJECT_CONFIGURATIONS, CONSTRAINTS)

PROJECTS = Resource(_PROJECT, "v1", "projects", "Project")
PROJECT_REQUESTS = Resource(_PROJECT, "v1", "projectrequests", "ProjectRequest")
TEMPLATES = Resource("template.openshift.io", "v1", "templates", "Template")
ROUTES = Resource("route.openshift.io", "v1", "routes", "Route")

VERSION = "4.18.14"
APPS_DOMAIN = "apps.lab.invalid"
