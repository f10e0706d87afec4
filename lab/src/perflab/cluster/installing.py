"""Creates objects of YAML files in the lab's cluster, and waits until the kinds that they define are served."""

from __future__ import annotations

import asyncio
from pathlib import Path

import yaml

from perflab.cluster.api import Api, Document
from perflab.processes.launch import wait_until
from perflab.processes.state import Lab

_CRD = "CustomResourceDefinition"
# the kinds of the lab's own manifests, which need no discovery
_PATHS = {
    _CRD: "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
    "MutatingAdmissionPolicy": "/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicies",
    "MutatingAdmissionPolicyBinding": "/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicybindings",
    "MutatingWebhookConfiguration": "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations",
    "StorageClass": "/apis/storage.k8s.io/v1/storageclasses",
    "ValidatingWebhookConfiguration": "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
}


def read_documents(path: Path) -> list[Document]:
    """The objects of a YAML file."""
    return [document for document in yaml.load_all(path.read_bytes(), _LOADER) if document]


async def install(api: Api, lab: Lab, documents: list[Document]) -> None:
    """Create the objects; return when every kind that they define is established."""
    await asyncio.gather(*(api.create(_PATHS[document["kind"]], document) for document in documents))
    names = [document["metadata"]["name"] for document in documents if document["kind"] == _CRD]

    async def established() -> bool:
        return all([_established(await api.get(f"{_PATHS[_CRD]}/{name}")) for name in names])

    if names:
        await wait_until(lab, f"{', '.join(names)} established", established)


def _established(crd: Document) -> bool:
    conditions = crd.get("status", {}).get("conditions") or []
    return any(item["type"] == "Established" and item["status"] == "True" for item in conditions)


# CRDs are long: libyaml's loader reads them ten times as fast
_LOADER: type[yaml.SafeLoader] | type[yaml.CSafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
