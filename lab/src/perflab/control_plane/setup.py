"""The objects of a lab's cluster besides nodes: the mark that it is a lab, and the kinds of its products."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from perflab.building.sets import Binaries
from perflab.cluster import devices
from perflab.cluster.api import Api, Document
from perflab.cluster.installing import CRD, install
from perflab.cluster.topology import parse_topology
from perflab.control_plane import products, prometheus
from perflab.control_plane.certificates import Authority, Pair
from perflab.control_plane.programs import MANIFESTS, metrics_endpoints
from perflab.files.documents import read_documents
from perflab.processes.launch import wait_until
from perflab.processes.state import Lab
from perflab.profiles import ARGO, KEDA, KSERVE, MODELS, OPENSHIFT, crds

_MANIFESTS = ("pod-groups.yaml", "storage.yaml", "managed-fields.yaml")
_MARK = "/api/v1/namespaces/kube-system/configmaps"


async def install_kinds(api: Api, lab: Lab, binaries: Binaries) -> list[Document]:
    """Create the kinds that the cluster serves in addition to Kubernetes' own, wait for them, and create initial
    objects.

    This comes before the controllers start: the garbage collector discovers new kinds only every half minute. Returns
    the objects of the new kinds, which the caller creates: an API server accepts none for two seconds.
    """
    if lab.options.dra:
        await install(api, lab, devices.device_classes(lab.options))
    files = [MANIFESTS / name for name in _MANIFESTS]
    for name in lab.emulators:
        files += [*binaries.definitions(name), *(path for path in (crds(name),) if path.exists())]
    kinds = [document for path in files for document in read_documents(path)]
    ran = products.of(lab).values()
    kinds += [document for each in ran for document in each.definitions(lab, binaries)]
    await install(api, lab, kinds)
    groups = {document["spec"]["group"] for document in kinds if document["kind"] == CRD}
    objects = [document for each in ran for document in each.objects(lab, binaries)]
    later = [document for document in objects if document["apiVersion"].partition("/")[0] in groups]
    await install(api, lab, [document for document in objects if document not in later])
    return later


def issue_webhook_certificate(authority: Authority, lab: Lab) -> None:
    """Put the pair of all webhooks where controller-runtime reads it: tls.crt and tls.key in one folder."""
    _put_pair(authority.issue_server("webhook-server", []), lab.folder / "pki" / "webhook")


def issue_peer_certificate(authority: Authority, lab: Lab) -> None:
    """Put the pair of KEDA's programs, which verify each other, and its authority where they read them."""
    if KEDA in lab.options.products:
        folder = products.keda.certificates(lab)
        _put_pair(authority.issue_peer("keda-peer"), folder)
        shutil.copy(authority.pair.certificate, folder / "ca.crt")


def _put_pair(pair: Pair, folder: Path) -> None:
    folder.mkdir(mode=0o700)
    shutil.copy(pair.certificate, folder / "tls.crt")
    shutil.copy(pair.key, folder / "tls.key")


async def install_webhooks(api: Api, lab: Lab, binaries: Binaries) -> None:
    """Register the webhooks at the API server; their programs must be ready."""
    for product in products.of(lab).values():
        await install(api, lab, list(product.served(lab, binaries)))


async def mark_cluster(api: Api, lab: Lab) -> None:
    """Write the ConfigMap by which clients recognize a lab; it lists the real, emulated and simulated parts."""
    document = lab.document()
    levels = parse_topology(lab.options.topology)
    data = {
        "name": lab.name,
        "profile": lab.options.profile,
        "nodes": str(lab.options.nodes),
        "gpus_per_node": str(lab.options.gpus_per_node),
        "gpu_product": lab.options.gpu_product,
        **{word: ",".join(document[word]) for word in ("real", "emulated", "simulated", "absent")},
        "versions": json.dumps(lab.versions, sort_keys=True),
        **({"topology": ",".join(level.label for level in levels)} if levels else {}),
        **_prometheus_data(lab),
        **(products.models.addresses(lab) if MODELS in lab.options.products else {}),
        **({"pipelines-url": products.pipelines.url(lab)} if ARGO in lab.options.products else {}),
        **({"gateway-url": products.envoy.url(lab)} if KSERVE in lab.options.products else {}),
        "metrics-endpoints": json.dumps(_all_metrics(lab), sort_keys=True),
    }
    mark = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "perflab"}, "data": data}
    await api.create(_MARK, mark)
    await _let_everybody_read_the_mark(api)
    # if it existed: `scale` changes the number of nodes
    await api.patch(f"{_MARK}/perflab", {"data": data})


def _all_metrics(lab: Lab) -> dict[str, str]:
    of_products = {name: each.metrics(lab) for name, each in products.of(lab).items() if each.metrics}
    return {**metrics_endpoints(lab), **of_products}


async def _let_everybody_read_the_mark(api: Api) -> None:
    """Let users with few rights read that it is a lab, and which one."""
    metadata = {"name": "perflab-mark"}
    rules = [
        {"apiGroups": [""], "resources": ["configmaps"], "resourceNames": ["perflab"], "verbs": ["get"]},
        {"apiGroups": [""], "resources": ["namespaces"], "resourceNames": ["kube-system"], "verbs": ["get"]},
    ]
    group = "rbac.authorization.k8s.io"
    everybody = {"apiGroup": group, "kind": "Group", "name": "system:authenticated"}
    role = {"apiGroup": group, "kind": "Role", **metadata}
    for collection, kind, content in (
        ("roles", "Role", {"rules": rules}),
        ("rolebindings", "RoleBinding", {"roleRef": role, "subjects": [everybody]}),
    ):
        body = {"apiVersion": f"{group}/v1", "kind": kind, "metadata": metadata, **content}
        await api.create(f"/apis/{group}/v1/namespaces/kube-system/{collection}", body)


def _prometheus_data(lab: Lab) -> dict[str, str]:
    if lab.options.profile != OPENSHIFT:
        return {}
    return {"prometheus-url": prometheus.url(lab), "prometheus-data": str(prometheus.data_folder(lab))}


async def wait_for_default_account(api: Api, lab: Lab) -> None:
    """Wait until pods can be created in the namespace `default`: the controllers work."""
    path = "/api/v1/namespaces/default/serviceaccounts/default"
    await wait_until(lab, "the service account default/default exists", lambda: api.exists(path))
