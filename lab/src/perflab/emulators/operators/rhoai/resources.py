"""The operator's resources, labels and finalizers."""

from __future__ import annotations

from perflab.emulators.framework.resources import Resource

CLUSTERS = Resource("datasciencecluster.opendatahub.io", "v1", "datascienceclusters", "DataScienceCluster")
INITIALIZATIONS = Resource("dscinitialization.opendatahub.io", "v1", "dscinitializations", "DSCInitialization")
IMAGE_STREAMS = Resource("image.openshift.io", "v1", "imagestreams", "ImageStream")
CATALOG_SOURCES = Resource("operators.coreos.com", "v1alpha1", "catalogsources", "CatalogSource")
SUBSCRIPTIONS = Resource("operators.coreos.com", "v1alpha1", "subscriptions", "Subscription")
VERSIONS = Resource("operators.coreos.com", "v1alpha1", "clusterserviceversions", "ClusterServiceVersion")
DEFINITIONS = Resource("apiextensions.k8s.io", "v1", "customresourcedefinitions", "CustomResourceDefinition")

# on what belongs to a component, with the component's name
PART_OF = "platform.opendatahub.io/part-of"
GENERATED = "opendatahub.io/generated-namespace"
# on the ConfigMap that asks for the end
DELETE = "api.openshift.com/addon-managed-odh-delete"
CLUSTER_FINALIZER = "platform.opendatahub.io/finalizer"
INITIALIZATION_FINALIZER = "dscinitialization.opendatahub.io/finalizer"

READY, NOT_READY, ERROR = "Ready", "Not Ready", "Error"
