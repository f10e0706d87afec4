"""What OLM makes of a package: its PackageManifest, its ClusterServiceVersion and its Deployments."""

from __future__ import annotations

import json
from collections.abc import Sequence

from perflab.cluster.api import Document
from perflab.emulators.framework.operator_deployments import OPERATOR
from perflab.emulators.framework.resources import CLUSTER_SERVICE_VERSIONS
from perflab.emulators.openshift.olm.packages import Package

_MODES = ("OwnNamespace", "SingleNamespace", "MultiNamespace", "AllNamespaces")
# one Deployment's pods, whatever labels the product gives them
_DEPLOYMENT = "lab.psap.perf/deployment"


def package_manifest(package: Package, catalog: Document) -> Document:
    """What a catalog says of a package."""
    metadata, spec = catalog["metadata"], catalog.get("spec") or {}
    return {
        "metadata": {
            "name": package.name,
            "namespace": metadata["namespace"],
            "labels": {"catalog": metadata["name"], "catalog-namespace": metadata["namespace"]},
        },
        "status": {
            "catalogSource": metadata["name"],
            "catalogSourceNamespace": metadata["namespace"],
            "catalogSourceDisplayName": spec.get("displayName", metadata["name"]),
            "catalogSourcePublisher": spec.get("publisher", ""),
            "packageName": package.name,
            "provider": {"name": package.provider},
            "defaultChannel": package.default_channel,
            "channels": [_channel(package, name) for name in package.channels],
        },
    }


def _channel(package: Package, name: str) -> Document:
    versions = package.channels[name]
    return {
        "name": name,
        "currentCSV": package.csv_name(versions[-1]),
        "currentCSVDesc": {
            "displayName": package.display_name,
            "version": versions[-1],
            "installModes": install_modes(package),
            "annotations": {"alm-examples": json.dumps(package.examples)},
            "customresourcedefinitions": {"owned": _owned(package)},
        },
        # newest first, as the package server has them
        "entries": [{"name": package.csv_name(each), "version": each} for each in reversed(versions)],
    }


def install_modes(package: Package) -> list[Document]:
    """Which groups of namespaces the operator can watch."""
    return [{"type": mode, "supported": mode in package.install_modes} for mode in _MODES]


def _owned(package: Package) -> list[Document]:
    return [
        {
            "kind": crd["spec"]["names"]["kind"],
            "name": crd["metadata"]["name"],
            "version": version["name"],
            "displayName": crd["spec"]["names"]["kind"],
        }
        for crd in package.crds
        for version in crd["spec"]["versions"]
    ]


def csv(package: Package, version: str, replaces: str | None) -> Document:
    """The ClusterServiceVersion of a version, without where it is."""
    spec = {
        "displayName": package.display_name,
        "version": version,
        "provider": {"name": package.provider},
        "installModes": install_modes(package),
        "customresourcedefinitions": {"owned": _owned(package)},
        "install": {
            "strategy": "deployment",
            "spec": {"deployments": [_strategy(package, version, each) for each in package.deployments]},
        },
    }
    return {
        "metadata": {
            "name": package.csv_name(version),
            "annotations": {"alm-examples": json.dumps(package.examples), "capabilities": "Basic Install"},
        },
        "spec": {**spec, "replaces": replaces} if replaces else spec,
    }


def _strategy(package: Package, version: str, deployment: Document) -> Document:
    name = deployment["name"]
    chosen = {_DEPLOYMENT: name}
    image = deployment.get("image", f"registry.example/{package.name}/{name}:{version}")
    labels = {**(deployment.get("labels") or {}), **chosen}
    return {
        "name": name,
        "label": deployment.get("labels") or {},
        "spec": {
            "replicas": deployment.get("replicas", 1),
            "selector": {"matchLabels": chosen},
            "template": {
                "metadata": {"labels": labels},
                "spec": {"containers": [{"name": "manager", "image": image}]},
            },
        },
    }


def deployments(
    version: Document, package: str, annotations: dict[str, str], environment: Sequence[Document]
) -> list[Document]:
    """The Deployments of an installed ClusterServiceVersion, which go with it.

    *environment* is what the Subscription's configuration adds to each container.
    """
    metadata = version["metadata"]
    added = [*environment, {"name": "OPERATOR_CONDITION_NAME", "value": metadata["name"]}]
    return [
        _deployment(version, each, package, annotations, added)
        for each in version["spec"]["install"]["spec"]["deployments"]
    ]


def _deployment(
    version: Document, strategy: Document, package: str, annotations: dict[str, str], environment: Sequence[Document]
) -> Document:
    metadata, spec = version["metadata"], strategy["spec"]
    template = spec["template"]
    containers = [{**each, "env": list(environment)} for each in template["spec"]["containers"]]
    return {
        "metadata": {
            "name": strategy["name"],
            "namespace": metadata["namespace"],
            "labels": {
                **strategy["label"],
                "olm.managed": "true",
                "olm.owner": metadata["name"],
                "olm.owner.kind": CLUSTER_SERVICE_VERSIONS.kind,
                "olm.owner.namespace": metadata["namespace"],
                OPERATOR: package,
            },
            "annotations": annotations,
            "ownerReferences": [
                {
                    "apiVersion": CLUSTER_SERVICE_VERSIONS.api_version,
                    "kind": CLUSTER_SERVICE_VERSIONS.kind,
                    "name": metadata["name"],
                    "uid": metadata["uid"],
                    "controller": False,
                    "blockOwnerDeletion": False,
                }
            ],
        },
        "spec": {
            **spec,
            "template": {
                "metadata": {**template["metadata"], "annotations": annotations},
                "spec": {**template["spec"], "containers": containers},
            },
        },
    }
