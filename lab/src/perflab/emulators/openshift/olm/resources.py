"""OLM's resources, labels and words."""

from __future__ import annotations

from perflab.emulators.framework.resources import Resource

_GROUP = "operators.coreos.com"
CATALOGS = Resource(_GROUP, "v1alpha1", "catalogsources", "CatalogSource")
SUBSCRIPTIONS = Resource(_GROUP, "v1alpha1", "subscriptions", "Subscription")
PLANS = Resource(_GROUP, "v1alpha1", "installplans", "InstallPlan")
VERSIONS = Resource(_GROUP, "v1alpha1", "clusterserviceversions", "ClusterServiceVersion")
GROUPS = Resource(_GROUP, "v1", "operatorgroups", "OperatorGroup")
MANIFESTS = Resource("packages.operators.coreos.com", "v1", "packagemanifests", "PackageManifest")

SERVICES = Resource("", "v1", "services", "Service")

MARKETPLACE = "openshift-marketplace"
# of a copy: the namespace of the original
COPIED_FROM = "olm.copiedFrom"
_LONGEST_NAME = 63


def component_label(package: str, namespace: str) -> str:
    """The label of everything that belongs to a package's installation; OLM cuts it as names of labels must be."""
    return f"{_GROUP}/" + f"{package}.{namespace}"[:_LONGEST_NAME].rstrip("-._")
