"""The operator of OpenShift AI, and of Open Data Hub: what it makes of a DSCInitialization and a DataScienceCluster.

Emulated, while the operator's Deployment runs (`packages.yaml`; the emulator `olm` installs it): the DSCInitialization
that it makes by itself, unless its Subscription says `DISABLE_DSC_CONFIG`, and the namespaces of that; the
DataScienceCluster that the managed flavour (a CatalogSource `addon-managed-odh-catalog` beside the operator) makes too;
of each component that is Managed its Deployments and, where no other part of the lab has them, its CRDs, of the
workbenches their image streams; what somebody else changes in a Deployment is set back; phase, conditions, installed
components and observed generation in the status; finalizers; a component that needs the service mesh and does not find
it; the uninstallation that a labelled ConfigMap asks for. The names are those of version 2.19.

Not emulated: what the components do (their Deployments run nothing), the custom resources that the operator keeps for
each of them, monitoring, the service mesh and serverless themselves, certificates, the webhooks of the operator.
"""

from __future__ import annotations

from collections.abc import Mapping

from perflab.emulators.framework.cluster import Cluster
from perflab.emulators.framework.controller import Controller
from perflab.emulators.operators.rhoai.clusters import Clusters
from perflab.emulators.operators.rhoai.initializations import Initializations
from perflab.emulators.operators.rhoai.platform import Platform
from perflab.emulators.operators.rhoai.uninstallation import Uninstallation

STEPS: Mapping[str, str] = {
    "dsci": "from a DSCInitialization that is there to its namespaces and phase Ready",
    "component": "from a component that is Managed to its Deployments; OBJECT is the component",
    "uninstall": "from the labelled ConfigMap to the first deletion",
}


def controllers(cluster: Cluster) -> list[Controller]:
    """Those of what the operator does when it starts, of its two kinds, and of its end."""
    platform = Platform(cluster)
    return [
        platform.controller,
        Initializations(cluster, platform).controller,
        Clusters(cluster, platform).controller,
        Uninstallation(cluster, platform).controller,
    ]
