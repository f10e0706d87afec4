"""Where the operator was installed."""

from __future__ import annotations

from perflab.emulators.framework.cluster import Cluster
from perflab.emulators.framework.operator_deployments import OPERATOR
from perflab.emulators.framework.resources import DEPLOYMENTS

PACKAGE = "gpu-operator-certified"


def operator_namespace(cluster: Cluster) -> str:
    """The namespace of the operator's Deployment, which is its operands' too; empty when it is not installed."""
    deployments = cluster.store(DEPLOYMENTS, f"{OPERATOR}={PACKAGE}").values()
    return next((str(each["metadata"]["namespace"]) for each in deployments), "")
