"""The API groups of known kinds, and the version of a group to use, so that tasks name neither.

Groups are in a table because the cluster's discovery needs a request for each group, and does not decide between
several kinds of the same name. The version is the one that the server prefers among those that serve the kind: versions
in the table would become deprecated, such as Kueue's v1beta1.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.base.naming import did_you_mean

_VERSION = re.compile(r"v\d+((alpha|beta)\d+)?")
# A name selects the kind in this table; for another kind of that name, such as Knative's Service, pass its group or API
# version. A kind has a version here if code reads or writes fields that another version does not have.
_KINDS = MappingProxyType(
    {
        # Kubernetes
        "v1": "ConfigMap Endpoints Event LimitRange Namespace Node PersistentVolume PersistentVolumeClaim Pod "
        "ReplicationController ResourceQuota Secret Service ServiceAccount",
        "admissionregistration.k8s.io": "MutatingWebhookConfiguration ValidatingWebhookConfiguration",
        "apiextensions.k8s.io": "CustomResourceDefinition",
        "apiregistration.k8s.io": "APIService",
        "apps": "ControllerRevision DaemonSet Deployment ReplicaSet StatefulSet",
        "autoscaling": "HorizontalPodAutoscaler",
        "batch": "CronJob Job",
        "certificates.k8s.io": "CertificateSigningRequest",
        "coordination.k8s.io": "Lease",
        "discovery.k8s.io": "EndpointSlice",
        "networking.k8s.io": "Ingress IngressClass NetworkPolicy",
        "node.k8s.io": "RuntimeClass",
        "policy": "PodDisruptionBudget",
        "rbac.authorization.k8s.io": "ClusterRole ClusterRoleBinding Role RoleBinding",
        "resource.k8s.io": "DeviceClass ResourceClaim ResourceClaimTemplate ResourceSlice",
        "scheduling.k8s.io": "PriorityClass",
        "storage.k8s.io": "CSIDriver CSINode StorageClass VolumeAttachment",
        # OpenShift
        "build.openshift.io": "Build BuildConfig",
        "config.openshift.io": "ClusterOperator ClusterVersion OAuth",
        "image.openshift.io": "ImageStream",
        "machine.openshift.io": "Machine MachineSet",
        "machineconfiguration.openshift.io": "KubeletConfig MachineConfig MachineConfigPool",
        "oauth.openshift.io": "OAuthClient",
        "operator.openshift.io": "ClusterCSIDriver LeaderWorkerSetOperator",
        "project.openshift.io": "Project",
        "route.openshift.io": "Route",
        "security.openshift.io": "SecurityContextConstraints",
        "template.openshift.io": "Template",
        # Operator Lifecycle Manager
        "operators.coreos.com": "CatalogSource ClusterServiceVersion InstallPlan OperatorGroup Subscription",
        "packages.operators.coreos.com": "PackageManifest",
        # operators
        "datasciencecluster.opendatahub.io": "DataScienceCluster",
        "datasciencepipelinesapplications.opendatahub.io": "DataSciencePipelinesApplication",
        "dscinitialization.opendatahub.io": "DSCInitialization",
        "kueue.openshift.io": "Kueue",
        "k8s.cni.cncf.io": "NetworkAttachmentDefinition",
        "kuadrant.io": "AuthPolicy Kuadrant",
        "maistra.io": "ServiceMeshControlPlane ServiceMeshMember ServiceMeshMemberRoll",
        "monitoring.coreos.com": "PodMonitor PrometheusRule ServiceMonitor",
        "nfd.openshift.io": "NodeFeature NodeFeatureDiscovery NodeFeatureRule",
        "nvidia.com": "ClusterPolicy NVIDIADriver",
        "gateway.networking.k8s.io": "Gateway GatewayClass HTTPRoute",
        "keda.sh": "ScaledObject",
        "inference.networking.k8s.io": "InferencePool",
        "llm-d.ai": "InferenceModelRewrite InferenceObjective",
        "serving.kserve.io": "InferenceService LLMInferenceService ServingRuntime",
        # workloads and their queues
        "argoproj.io": "Workflow",
        "jobset.x-k8s.io": "JobSet",
        "kubeflow.org": "PyTorchJob",
        "kueue.x-k8s.io": "AdmissionCheck ClusterQueue LocalQueue MultiKueueCluster MultiKueueConfig ResourceFlavor "
        "Topology Workload WorkloadPriorityClass",
        "leaderworkerset.x-k8s.io": "LeaderWorkerSet",
        "ray.io": "RayCluster RayJob",
        "trainer.kubeflow.org": "TrainingRuntime TrainJob",
        "run.ai": "DistributedWorkload InteractiveWorkload TrainingWorkload",
    }
)
API_VERSIONS = MappingProxyType({kind: version for version, kinds in _KINDS.items() for kind in kinds.split()})
"""By kind: its API group, of which the server selects the version; or an API version, such as ``v1``."""


def api_version_of(kind: str, given: str | None = None) -> str:
    """Return the API version or the group of *kind*: *given*, by default the table's.

    Raises:
        UsageError: If *given* is missing and the kind is unknown.
    """
    version = given or API_VERSIONS.get(kind)
    if version is None:
        raise UsageError(f"pass the api_version of {kind}, which is not a known kind{did_you_mean(kind, API_VERSIONS)}")
    return version


def is_group(api_version: str) -> bool:
    """Return whether *api_version* is only a group, such as ``batch``, unlike ``batch/v1`` and ``v1``."""
    return "/" not in api_version and _VERSION.fullmatch(api_version) is None


def group_of(api_version: str) -> str:
    """Return the group of an API version or a group; empty for the core group, of ``v1``."""
    return api_version if is_group(api_version) else api_version.rpartition("/")[0]


def versions_of(group: Mapping[str, Any]) -> list[str]:
    """Return the API versions of an APIGroup, the preferred version first, then in the server's order.

    A kind need not be in the preferred version: ``scheduling.k8s.io/v1`` has no PodGroup.
    """
    preferred = (group.get("preferredVersion") or {}).get("groupVersion")
    served = [str(version["groupVersion"]) for version in group.get("versions") or ()]
    return sorted(served, key=lambda version: version != preferred)
