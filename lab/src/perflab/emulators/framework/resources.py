"""The resources of the API that emulators read and write."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

# kinds whose plural is the kind
_AS_THEY_ARE = frozenset(("endpoints", "securitycontextconstraints"))
# Kubernetes' own groups, in addition to those without a dot; CustomResourceDefinitions define all others
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
    """One kind of objects and its path in the API. *group* is empty for the core group.

    *older* are versions to use if the cluster does not serve *version*, the newest first.
    """

    group: str
    version: str
    plural: str
    kind: str
    older: tuple[str, ...] = ()

    @classmethod
    def of(cls, api_version: str, kind: str) -> Resource:
        """Return the resource of a kind, with the plural that Kubernetes' own tools guess."""
        group, _, versions = api_version.rpartition("/")
        version, *older = versions.split("|")
        return cls(group, version, _plural(kind), kind, tuple(older))

    @property
    def api_version(self) -> str:
        """Return `v1`, `batch/v1`."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def is_custom(self) -> bool:
        """Return whether a CustomResourceDefinition defines the kind."""
        return "." in self.group and self.group not in _OWN_GROUPS

    def each_version(self) -> Iterator[Resource]:
        """Yield the resource in each of its versions, the newest first."""
        return (replace(self, version=version) for version in (self.version, *self.older))

    def path(self, namespace: str = "", name: str = "") -> str:
        """Return the path of an object, or of the list of a namespace (`""`: of the whole cluster)."""
        base = f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"
        within = f"/namespaces/{namespace}" if namespace else ""
        return f"{base}{within}/{self.plural}" + (f"/{name}" if name else "")


def parse_kind(text: str) -> Resource:
    """Parse `apps/v1/Deployment`, or `v1/Pod`; `example.com/v2|v1/Kind` in the newest served version."""
    api_version, _, kind = text.rpartition("/")
    return Resource.of(api_version, kind)


def _plural(kind: str) -> str:
    name = kind.lower()
    if name in _AS_THEY_ARE:
        return name
    if name.endswith("s"):
        return f"{name}es"
    return f"{name[:-1]}ies" if re.search("[^aeiou]y$", name) else f"{name}s"


NODES = Resource("", "v1", "nodes", "Node")
CONFIG_MAPS = Resource("", "v1", "configmaps", "ConfigMap")
PODS = Resource("", "v1", "pods", "Pod")
EVENTS = Resource("", "v1", "events", "Event")
DEPLOYMENTS = Resource("apps", "v1", "deployments", "Deployment")
CUSTOM_RESOURCE_DEFINITIONS = Resource(
    "apiextensions.k8s.io", "v1", "customresourcedefinitions", "CustomResourceDefinition"
)
PYTORCH_JOBS = Resource("kubeflow.org", "v1", "pytorchjobs", "PyTorchJob")
DATA_SCIENCE_CLUSTERS = Resource.of("datasciencecluster.opendatahub.io/v2|v1", "DataScienceCluster")
DSC_INITIALIZATIONS = Resource.of("dscinitialization.opendatahub.io/v2|v1", "DSCInitialization")
MACHINES = Resource("machine.openshift.io", "v1beta1", "machines", "Machine")
MACHINE_SETS = Resource("machine.openshift.io", "v1beta1", "machinesets", "MachineSet")
