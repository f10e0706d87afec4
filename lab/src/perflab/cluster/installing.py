"""Creates objects in the lab's cluster, and waits until the kinds that they define are served."""

from __future__ import annotations

import asyncio

from perflab.cluster.api import Api, Document
from perflab.processes.launch import wait_until
from perflab.processes.state import Lab

CRD, _NAMESPACE = "CustomResourceDefinition", "Namespace"
# kinds of the lab's own manifests, which need no discovery
_PATHS = {
    _NAMESPACE: "/api/v1/namespaces",
    "APIService": "/apis/apiregistration.k8s.io/v1/apiservices",
    "CatalogSource": "/apis/operators.coreos.com/v1alpha1/namespaces/{namespace}/catalogsources",
    "ClusterRole": "/apis/rbac.authorization.k8s.io/v1/clusterroles",
    "ClusterRoleBinding": "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
    "ClusterTrainingRuntime": "/apis/trainer.kubeflow.org/v1alpha1/clustertrainingruntimes",
    "ConfigMap": "/api/v1/namespaces/{namespace}/configmaps",
    "Deployment": "/apis/apps/v1/namespaces/{namespace}/deployments",
    "DeviceClass": "/apis/resource.k8s.io/v1/deviceclasses",
    "EndpointSlice": "/apis/discovery.k8s.io/v1/namespaces/{namespace}/endpointslices",
    "Gateway": "/apis/gateway.networking.k8s.io/v1/namespaces/{namespace}/gateways",
    "GatewayClass": "/apis/gateway.networking.k8s.io/v1/gatewayclasses",
    "LLMInferenceServiceConfig": "/apis/serving.kserve.io/v1alpha2/namespaces/{namespace}/llminferenceserviceconfigs",
    CRD: "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
    "MutatingAdmissionPolicy": "/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicies",
    "MutatingAdmissionPolicyBinding": "/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicybindings",
    "MutatingWebhookConfiguration": "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations",
    "OLMConfig": "/apis/operators.coreos.com/v1/olmconfigs",
    "OperatorGroup": "/apis/operators.coreos.com/v1/namespaces/{namespace}/operatorgroups",
    "Proxy": "/apis/config.openshift.io/v1/proxies",
    "ResourceFlavor": "/apis/kueue.x-k8s.io/v1beta2/resourceflavors",
    "Service": "/api/v1/namespaces/{namespace}/services",
    "StorageClass": "/apis/storage.k8s.io/v1/storageclasses",
    "Topology": "/apis/kueue.x-k8s.io/v1beta2/topologies",
    "ValidatingAdmissionPolicy": "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies",
    "ValidatingAdmissionPolicyBinding": "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings",
    "ValidatingWebhookConfiguration": "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
}


async def install(api: Api, lab: Lab, documents: list[Document]) -> None:
    """Create the objects; return when every kind that they define is established."""
    kinds = [document for document in documents if document["kind"] == CRD]
    # one by one: on a busy machine, two large ones in parallel exceed the API server's own time limit
    for kind in kinds:
        await api.create(_path(kind), kind)
    spaces = [document for document in documents if document["kind"] == _NAMESPACE]
    for part in (spaces, [document for document in documents if document["kind"] not in (CRD, _NAMESPACE)]):
        await asyncio.gather(*(api.create(_path(document), document) for document in part))
    if kinds:
        names = ", ".join(document["metadata"]["name"] for document in kinds)
        await wait_until(lab, f"{names} served", lambda: _served(api, kinds))


async def _served(api: Api, definitions: list[Document]) -> bool:
    """Return whether clients find all these kinds. The definitions themselves may be large: they are not read again."""
    wanted: dict[str, set[str]] = {}
    for each in definitions:
        spec = each["spec"]
        version = next(version["name"] for version in spec["versions"] if version["storage"])
        wanted.setdefault(f"/apis/{spec['group']}/{version}", set()).add(spec["names"]["plural"])
    return all([plurals <= await _listed(api, path) for path, plurals in wanted.items()])


async def _listed(api: Api, path: str) -> set[str]:
    found = await api.get_present(path)
    return {each["name"] for each in found["resources"]} if found else set()


def _path(document: Document) -> str:
    return _PATHS[document["kind"]].format(namespace=document["metadata"].get("namespace", ""))
