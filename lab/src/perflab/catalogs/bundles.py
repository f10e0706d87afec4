"""Packages as file-based catalogs: https://olm.operatorframework.io/docs/reference/file-based-catalogs/."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path

from perflab.catalogs.packages import Package, images, packages
from perflab.cluster.api import Document
from perflab.files import documents

# the label of an operator's Deployments and of their pods, with the name of its package
OPERATOR = "lab.psap.perf/operator"
# the annotation of their pods, with the name of the ClusterServiceVersion
OPERATOR_VERSION = "lab.psap.perf/operator-version"
_MODES = ("OwnNamespace", "SingleNamespace", "MultiNamespace", "AllNamespaces")
# a label of the pods of one Deployment, in addition to the product's labels
_DEPLOYMENT = "lab.psap.perf/deployment"


def write(folder: Path) -> None:
    """Write each catalog into a subfolder of its name, and `images.json`, the patterns of images of each."""
    patterns = images()
    for name in patterns:
        documents.private_folder(folder / name)
        offered = [package for package in packages() if name in package.catalogs]
        content = "\n".join(json.dumps(document) for document in catalog(offered))
        documents.write_private(folder / name / "catalog.json", content)
    documents.write_json(folder / "images.json", dict(patterns))


def catalog(offered: Iterable[Package]) -> Iterator[Document]:
    """Yield the documents of a catalog of these packages."""
    for package in offered:
        yield {"schema": "olm.package", "name": package.name, "defaultChannel": package.default_channel}
        for name, versions in package.channels.items():
            yield {
                "schema": "olm.channel",
                "package": package.name,
                "name": name,
                "entries": _entries(package, versions),
            }
        for version in package.versions:
            yield _bundle(package, version)


def _entries(package: Package, versions: tuple[str, ...]) -> list[Document]:
    names = [package.csv_name(version) for version in versions]
    return [{"name": names[0]}, *({"name": name, "replaces": before} for before, name in pairwise(names))]


def _bundle(package: Package, version: str) -> Document:
    crds = package.crds_of(version)
    properties = [
        _property("olm.package", {"packageName": package.name, "version": version}),
        *(_property("olm.gvk", _gvk(crd, each["name"])) for crd in crds for each in _served(crd)),
        *(
            _property("olm.package.required", {"packageName": name, "versionRange": versions})
            for name, versions in package.requires.items()
        ),
        # the objects themselves, since there is no image to unpack
        *(_property("olm.bundle.object", {"data": _encoded(each)}) for each in (csv(package, version), *crds)),
    ]
    return {
        "schema": "olm.bundle",
        "name": package.csv_name(version),
        "package": package.name,
        "properties": properties,
    }


def _property(kind: str, value: Document) -> Document:
    return {"type": kind, "value": value}


def _gvk(crd: Document, version: str) -> Document:
    return {"group": crd["spec"]["group"], "kind": crd["spec"]["names"]["kind"], "version": version}


def _served(crd: Document) -> list[Document]:
    return [version for version in crd["spec"]["versions"] if version["served"]]


def _encoded(document: Document) -> str:
    return base64.b64encode(json.dumps(document).encode()).decode()


def csv(package: Package, version: str) -> Document:
    """Return the ClusterServiceVersion of a version."""
    name = package.csv_name(version)
    return {
        "apiVersion": "operators.coreos.com/v1alpha1",
        "kind": "ClusterServiceVersion",
        "metadata": {
            "name": name,
            # OLM replaces it with the namespace of the installation
            "namespace": "placeholder",
            "annotations": {"alm-examples": json.dumps(package.examples), "capabilities": "Basic Install"},
        },
        "spec": {
            "displayName": package.display_name,
            "version": version,
            "provider": {"name": package.provider},
            "installModes": [{"type": mode, "supported": mode in package.install_modes} for mode in _MODES],
            "customresourcedefinitions": {"owned": _owned(package, version)},
            "install": {
                "strategy": "deployment",
                "spec": {
                    "permissions": [_permissions(each, _NAMESPACED) for each in package.deployments],
                    "clusterPermissions": [_permissions(each, _on(package)) for each in package.deployments],
                    "deployments": [_deployment(package, version, each) for each in package.deployments],
                },
            },
        },
    }


def _owned(package: Package, version: str) -> list[Document]:
    return [
        {
            "kind": crd["spec"]["names"]["kind"],
            "name": crd["metadata"]["name"],
            "version": each["name"],
            "displayName": crd["spec"]["names"]["kind"],
        }
        for crd in package.crds_of(version)
        for each in _served(crd)
    ]


_NAMESPACED = [{"apiGroups": [""], "resources": ["configmaps", "events"], "verbs": ["*"]}]


def _on(package: Package) -> list[Document]:
    groups = sorted({crd["spec"]["group"] for crd in package.crds})
    nodes = {"apiGroups": [""], "resources": ["nodes"], "verbs": ["get", "list", "watch", "patch"]}
    return [nodes, *({"apiGroups": [group], "resources": ["*"], "verbs": ["*"]} for group in groups)]


def _permissions(deployment: Document, rules: list[Document]) -> Document:
    return {"serviceAccountName": deployment["name"], "rules": rules}


def _deployment(package: Package, version: str, deployment: Document) -> Document:
    name = deployment["name"]
    chosen, product = {_DEPLOYMENT: name}, {OPERATOR: package.name}
    image = deployment.get("image", f"registry.example/{package.name}/{name}:{version}")
    labels = deployment.get("labels") or {}
    return {
        "name": name,
        "label": {**labels, **product},
        "spec": {
            "replicas": deployment.get("replicas", 1),
            "selector": {"matchLabels": chosen},
            "template": {
                "metadata": {
                    "labels": {**labels, **chosen, **product},
                    "annotations": {OPERATOR_VERSION: package.csv_name(version)},
                },
                "spec": {
                    "serviceAccountName": name,
                    "containers": [{"name": "manager", "image": image}],
                },
            },
        },
    }
