"""The components of a DataScienceCluster: what each is made of, and the objects for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from perflab.cluster.api import Document

# on what belongs to a component, with the component's name
PART_OF = "platform.opendatahub.io/part-of"


_VERSION = "v2.19.1"


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind that comes with a component: `notebooks.kubeflow.org`, `v1`, `Notebook`."""

    name: str
    version: str
    kind: str
    scope: str = "Namespaced"
    has_status: bool = True


@dataclass(frozen=True, slots=True)
class Component:
    """One component.

    *condition* begins the type of its condition, *installed* is its name among the installed ones, *kinds* are those
    that no other part of the lab has.
    """

    name: str
    condition: str
    deployments: tuple[str, ...]
    installed: str = ""
    kinds: tuple[Kind, ...] = ()
    images: tuple[str, ...] = ()

    @property
    def installed_name(self) -> str:
        """Its name in `status.installedComponents`."""
        return self.installed or self.name


_ALL = (
    Component(
        "codeflare",
        "CodeFlare",
        ("codeflare-operator-manager",),
        kinds=(Kind("appwrappers.workload.codeflare.dev", "v1beta2", "AppWrapper"),),
    ),
    Component(
        "dashboard",
        "Dashboard",
        ("rhods-dashboard",),
        kinds=(
            Kind("odhdashboardconfigs.opendatahub.io", "v1alpha", "OdhDashboardConfig"),
            Kind("odhapplications.dashboard.opendatahub.io", "v1", "OdhApplication"),
        ),
    ),
    Component(
        "datasciencepipelines",
        "DataSciencePipelines",
        ("data-science-pipelines-operator-controller-manager",),
        installed="data-science-pipelines-operator",
        kinds=(
            Kind(
                "datasciencepipelinesapplications.datasciencepipelinesapplications.opendatahub.io",
                "v1",
                "DataSciencePipelinesApplication",
            ),
        ),
    ),
    Component("feastoperator", "FeastOperator", ("feast-operator-controller-manager",)),
    Component(
        "kserve",
        "Kserve",
        ("kserve-controller-manager", "odh-model-controller"),
        kinds=(
            Kind("inferenceservices.serving.kserve.io", "v1beta1", "InferenceService"),
            Kind("servingruntimes.serving.kserve.io", "v1alpha1", "ServingRuntime", has_status=False),
        ),
    ),
    Component("kueue", "Kueue", ("kueue-controller-manager",)),
    Component("modelmeshserving", "ModelMeshServing", ("modelmesh-controller", "etcd"), installed="model-mesh"),
    Component(
        "modelregistry",
        "ModelRegistry",
        ("model-registry-operator-controller-manager",),
        installed="model-registry-operator",
        kinds=(Kind("modelregistries.modelregistry.opendatahub.io", "v1alpha1", "ModelRegistry"),),
    ),
    Component("ray", "Ray", ("kuberay-operator",)),
    Component("trainingoperator", "TrainingOperator", ("kubeflow-training-operator",)),
    Component(
        "trustyai",
        "TrustyAI",
        ("trustyai-service-operator-controller-manager",),
        kinds=(Kind("trustyaiservices.trustyai.opendatahub.io", "v1alpha1", "TrustyAIService"),),
    ),
    Component(
        "workbenches",
        "Workbenches",
        ("notebook-controller-deployment", "odh-notebook-controller-manager"),
        kinds=(Kind("notebooks.kubeflow.org", "v1", "Notebook"),),
        images=("s2i-minimal-notebook", "s2i-generic-data-science-notebook"),
    ),
)
COMPONENTS: Mapping[str, Component] = {component.name: component for component in _ALL}


def is_managed(cluster: Document, component: str) -> bool:
    """Whether the DataScienceCluster wants the component."""
    return _spec(cluster, component).get("managementState") == "Managed"


def needs_mesh(cluster: Document, component: str) -> bool:
    """Whether the component, as the DataScienceCluster wants it, builds on the service mesh."""
    serving = _spec(cluster, component).get("serving") or {}
    return component == "kserve" and serving.get("managementState", "Managed") == "Managed"


def _spec(cluster: Document, component: str) -> Document:
    components = (cluster.get("spec") or {}).get("components") or {}
    found: Document = components.get(component) or {}
    return found


def labels_of(component: Component) -> dict[str, str]:
    """What everything of a component is labelled with."""
    return {
        PART_OF: component.name,
        f"app.opendatahub.io/{component.name}": "true",
        "app.kubernetes.io/part-of": component.name,
    }


def image_of(deployment: str) -> str:
    """The image that the operator gives to a Deployment."""
    return f"quay.io/modh/{deployment}:{_VERSION}"


def deployment(component: Component, name: str) -> Document:
    """One Deployment of a component, without its namespace and owner."""
    labels = {**labels_of(component), "deployment": name}
    container = {
        "name": "manager",
        "image": image_of(name),
        "resources": {"requests": {"cpu": "10m", "memory": "64Mi"}},
    }
    return {
        "metadata": {"name": name, "labels": labels},
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": {"deployment": name}},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [container]}},
        },
    }


def definition(component: Component, kind: Kind) -> Document:
    """The CustomResourceDefinition of a kind; its fields are not checked."""
    plural, _, group = kind.name.partition(".")
    anything = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    schema = {"type": "object", "properties": {"spec": anything, "status": anything}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": kind.name, "labels": labels_of(component)},
        "spec": {
            "group": group,
            "scope": kind.scope,
            "names": {
                "kind": kind.kind,
                "listKind": f"{kind.kind}List",
                "plural": plural,
                "singular": kind.kind.lower(),
            },
            "versions": [
                {
                    "name": kind.version,
                    "served": True,
                    "storage": True,
                    **({"subresources": {"status": {}}} if kind.has_status else {}),
                    "schema": {"openAPIV3Schema": schema},
                }
            ],
        },
    }


def image_stream(component: Component, name: str) -> Document:
    """One image of the workbenches, without its namespace and owner."""
    image = f"quay.io/modh/{name}:{_VERSION}"
    return {
        "metadata": {"name": name, "labels": labels_of(component)},
        "spec": {
            "lookupPolicy": {"local": True},
            "tags": [{"name": "2025.1", "from": {"kind": "DockerImage", "name": image}}],
        },
        "status": {"tags": [{"tag": "2025.1", "items": [{"dockerImageReference": image, "generation": 1}]}]},
    }
