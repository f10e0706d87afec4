"""The API versions of known kinds, so that a task need not name them.

A table, and not the cluster's discovery: that would cost a request for each group of the cluster, could not say which
one of several kinds of a name is meant, and would find nothing where the CRD is not there yet, or not any more.
"""

from __future__ import annotations

from types import MappingProxyType

from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.base.naming import did_you_mean

# Of kinds of one name the one here is meant; another one, such as Knative's Service, is named with its API version.
_KINDS = MappingProxyType(
    {
        # Kubernetes
        "v1": "ConfigMap Endpoints Event LimitRange Namespace Node PersistentVolume PersistentVolumeClaim Pod "
        "ReplicationController ResourceQuota Secret Service ServiceAccount",
        "admissionregistration.k8s.io/v1": "MutatingWebhookConfiguration ValidatingWebhookConfiguration",
        "apiextensions.k8s.io/v1": "CustomResourceDefinition",
        "apiregistration.k8s.io/v1": "APIService",
        "apps/v1": "ControllerRevision DaemonSet Deployment ReplicaSet StatefulSet",
        "autoscaling/v2": "HorizontalPodAutoscaler",
        "batch/v1": "CronJob Job",
        "certificates.k8s.io/v1": "CertificateSigningRequest",
        "coordination.k8s.io/v1": "Lease",
        "discovery.k8s.io/v1": "EndpointSlice",
        "networking.k8s.io/v1": "Ingress IngressClass NetworkPolicy",
        "node.k8s.io/v1": "RuntimeClass",
        "policy/v1": "PodDisruptionBudget",
        "rbac.authorization.k8s.io/v1": "ClusterRole ClusterRoleBinding Role RoleBinding",
        "scheduling.k8s.io/v1": "PriorityClass",
        "storage.k8s.io/v1": "CSIDriver CSINode StorageClass VolumeAttachment",
        # OpenShift
        "build.openshift.io/v1": "Build BuildConfig",
        "config.openshift.io/v1": "ClusterOperator ClusterVersion OAuth",
        "image.openshift.io/v1": "ImageStream",
        "machine.openshift.io/v1beta1": "Machine MachineSet",
        "machineconfiguration.openshift.io/v1": "KubeletConfig MachineConfig MachineConfigPool",
        "oauth.openshift.io/v1": "OAuthClient",
        "operator.openshift.io/v1": "ClusterCSIDriver LeaderWorkerSetOperator",
        "project.openshift.io/v1": "Project",
        "route.openshift.io/v1": "Route",
        "security.openshift.io/v1": "SecurityContextConstraints",
        "template.openshift.io/v1": "Template",
        # Operator Lifecycle Manager
        "operators.coreos.com/v1": "OperatorGroup",
        "operators.coreos.com/v1alpha1": "CatalogSource ClusterServiceVersion InstallPlan Subscription",
        "packages.operators.coreos.com/v1": "PackageManifest",
        # operators
        "datasciencecluster.opendatahub.io/v1": "DataScienceCluster",
        "dscinitialization.opendatahub.io/v1": "DSCInitialization",
        "k8s.cni.cncf.io/v1": "NetworkAttachmentDefinition",
        "maistra.io/v1": "ServiceMeshMember ServiceMeshMemberRoll",
        "maistra.io/v2": "ServiceMeshControlPlane",
        "monitoring.coreos.com/v1": "PodMonitor PrometheusRule ServiceMonitor",
        "nfd.openshift.io/v1": "NodeFeatureDiscovery",
        "nfd.openshift.io/v1alpha1": "NodeFeature NodeFeatureRule",
        "nvidia.com/v1": "ClusterPolicy",
        "nvidia.com/v1alpha1": "NVIDIADriver",
        "gateway.networking.k8s.io/v1": "Gateway GatewayClass HTTPRoute",
        "inference.networking.k8s.io/v1": "InferencePool",
        "serving.kserve.io/v1alpha1": "LLMInferenceService ServingRuntime",
        "serving.kserve.io/v1beta1": "InferenceService",
        # workloads and their queues
        "kubeflow.org/v1": "PyTorchJob",
        "kueue.x-k8s.io/v1beta1": "ClusterQueue LocalQueue ResourceFlavor Workload WorkloadPriorityClass",
        "ray.io/v1": "RayCluster RayJob",
        "run.ai/v2alpha1": "DistributedWorkload InteractiveWorkload TrainingWorkload",
    }
)
API_VERSIONS = MappingProxyType({kind: version for version, kinds in _KINDS.items() for kind in kinds.split()})
"""The API version by kind."""


def api_version_of(kind: str, given: str | None = None) -> str:
    """The API version of *kind*: the one *given*, or else the table's.

    :raises UsageError: when none is given and the kind is unknown.
    """
    version = given or API_VERSIONS.get(kind)
    if version is None:
        raise UsageError(f"give the api_version of {kind}, which is no known kind{did_you_mean(kind, API_VERSIONS)}")
    return version
