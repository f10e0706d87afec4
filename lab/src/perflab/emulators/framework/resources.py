"""The resources of the API that emulators read and write."""

from __future__ import annotations

from dataclasses import dataclass

# Kubernetes' own groups, besides those without a dot; any other is defined by CustomResourceDefinitions
_OWN_GROUPS = frozenset(
    f"{name}.k8s.io"
    for name in (
        "admissionregistration",
        "apiextensions",
        "apiregistration",
        "authentication",
        "authorization",
        "certificates",
        "coordination",
        "discovery",
        "events",
        "flowcontrol.apiserver",
        "networking",
        "node",
        "rbac.authorization",
        "resource",
        "scheduling",
        "storage",
        "storagemigration",
    )
)


@dataclass(frozen=True, slots=True)
class Resource:
    """One kind of objects: where the API server has them. *group* is empty for the core group."""

    group: str
    version: str
    plural: str
    kind: str

    @property
    def api_version(self) -> str:
        """`v1`, `batch/v1`."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def is_custom(self) -> bool:
        """Whether a CustomResourceDefinition defines the kind."""
        return "." in self.group and self.group not in _OWN_GROUPS

    def path(self, namespace: str = "", name: str = "") -> str:
        """The path of an object, or of the list of a namespace (`""`: of the whole cluster)."""
        base = f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"
        within = f"/namespaces/{namespace}" if namespace else ""
        return f"{base}{within}/{self.plural}" + (f"/{name}" if name else "")


NODES = Resource("", "v1", "nodes", "Node")
NAMESPACES = Resource("", "v1", "namespaces", "Namespace")
SERVICES = Resource("", "v1", "services", "Service")
CONFIG_MAPS = Resource("", "v1", "configmaps", "ConfigMap")
PODS = Resource("", "v1", "pods", "Pod")
EVENTS = Resource("", "v1", "events", "Event")
CLAIMS = Resource("", "v1", "persistentvolumeclaims", "PersistentVolumeClaim")
VOLUMES = Resource("", "v1", "persistentvolumes", "PersistentVolume")
STORAGE_CLASSES = Resource("storage.k8s.io", "v1", "storageclasses", "StorageClass")
PRIORITY_CLASSES = Resource("scheduling.k8s.io", "v1", "priorityclasses", "PriorityClass")
STATEFUL_SETS = Resource("apps", "v1", "statefulsets", "StatefulSet")
DAEMON_SETS = Resource("apps", "v1", "daemonsets", "DaemonSet")
DEPLOYMENTS = Resource("apps", "v1", "deployments", "Deployment")
DEFINITIONS = Resource("apiextensions.k8s.io", "v1", "customresourcedefinitions", "CustomResourceDefinition")
JOBS = Resource("batch", "v1", "jobs", "Job")
PYTORCH_JOBS = Resource("kubeflow.org", "v1", "pytorchjobs", "PyTorchJob")
GANGS = Resource("scheduling.k8s.io", "v1alpha2", "podgroups", "PodGroup")
