"""The Deployment and StatefulSets that monitor users' workloads."""

from __future__ import annotations

from perflab.cluster.api import Document
from perflab.emulators.framework.resources import DEPLOYMENTS, STATEFUL_SETS, Resource
from perflab.emulators.openshift.monitoring.settings import USER_WORKLOAD, UserWorkload

_OPERATOR, _PROMETHEUS, _RULER = "prometheus-operator", "prometheus-user-workload", "thanos-ruler-user-workload"
DEPLOYED, STATEFUL = (_OPERATOR,), (_PROMETHEUS, _RULER)
# a registry that nobody has
_NO_REGISTRY, _REGISTRY = "registry.invalid", "quay.io"


def documents(settings: UserWorkload, fails: bool) -> list[tuple[Resource, Document]]:
    """The three of them; their pods get no image when *fails*."""
    registry = _NO_REGISTRY if fails else _REGISTRY
    prometheus = _container(registry, "prometheus", "1Gi")
    prometheus["args"] = [f"--storage.tsdb.retention.time={settings.retention}", f"--log.level={settings.log_level}"]
    return [
        (DEPLOYMENTS, _workload(DEPLOYMENTS, _OPERATOR, 1, [_container(registry, _OPERATOR, "30Mi")])),
        (STATEFUL_SETS, _workload(STATEFUL_SETS, _PROMETHEUS, 2, [prometheus])),
        (STATEFUL_SETS, _workload(STATEFUL_SETS, _RULER, 2, [_container(registry, "thanos-ruler", "21Mi")])),
    ]


def _container(registry: str, name: str, memory: str) -> Document:
    image = f"{registry}/openshift/{name}:simulated"
    return {"name": name, "image": image, "resources": {"requests": {"cpu": "5m", "memory": memory}}}


def _workload(resource: Resource, name: str, replicas: int, containers: list[Document]) -> Document:
    component = {_PROMETHEUS: "prometheus", _RULER: "thanos-ruler", _OPERATOR: "controller"}[name]
    chosen = {
        "app.kubernetes.io/component": component,
        "app.kubernetes.io/instance": "user-workload",
        "app.kubernetes.io/managed-by": "cluster-monitoring-operator",
        "app.kubernetes.io/name": component if component != "controller" else name,
        "app.kubernetes.io/part-of": "openshift-monitoring",
    }
    spec: Document = {
        "replicas": replicas,
        "selector": {"matchLabels": chosen},
        "template": {"metadata": {"labels": chosen}, "spec": {"containers": containers}},
    }
    if resource is STATEFUL_SETS:
        spec |= {"serviceName": name, "podManagementPolicy": "Parallel"}
    return {
        "apiVersion": resource.api_version,
        "kind": resource.kind,
        "metadata": {"name": name, "namespace": USER_WORKLOAD, "labels": chosen},
        "spec": spec,
    }
