"""OLM, OpenShift's Operator Lifecycle Manager, far enough that operators come and go as on a cluster.

Emulated: CatalogSources with a pod each and the state of their connection; the PackageManifests of their packages;
Subscriptions, resolved together for each namespace, and their InstallPlans, Manual or Automatic, also those of
upgrades; ClusterServiceVersions from Pending to Succeeded or Failed, tried again once a failure is over, with
`alm-examples`, their Deployments and their CRDs; OperatorGroups, none, one or too many, and the namespaces that an
operator can watch; copies in all namespaces; what stays: a removed Subscription leaves the ClusterServiceVersion,
which stands in the way of the next Subscription, and a removed ClusterServiceVersion leaves the CRDs.

Not emulated: dependencies between packages, `replaces` and `skips` (an upgrade goes to the newest version of the
channel), webhooks, RBAC and service accounts of operators, OperatorConditions, `Operator` objects, catalogs that are
polled for news; the Subscription's `config` but for `env`, read when a Deployment is made. A PackageManifest is an
object of the catalog's namespace, one of a name, where the package server shows all global ones everywhere. The
packages are few, and those of `packages.yaml` in the folders of the emulators.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from perflab.emulators.framework.cluster import Cluster
from perflab.emulators.framework.controller import Controller
from perflab.emulators.framework.initial_objects import InitialObjects
from perflab.emulators.framework.resources import CATALOG_SOURCES, DEPLOYMENTS, NAMESPACES, OPERATOR_GROUPS
from perflab.emulators.openshift.olm.catalogs import Catalogs
from perflab.emulators.openshift.olm.copies import Copies
from perflab.emulators.openshift.olm.groups import Groups
from perflab.emulators.openshift.olm.plans import Plans
from perflab.emulators.openshift.olm.subscriptions import Subscriptions
from perflab.emulators.openshift.olm.versions import Versions

STEPS: Mapping[str, str] = MappingProxyType(
    {
        "catalog": "from the pod of a CatalogSource being ready to its connection being READY",
        "resolution": "from a Subscription to its InstallPlan",
        "install_plan": "from an approved InstallPlan to Complete; OBJECT is its first ClusterServiceVersion",
        "csv": "from a ClusterServiceVersion that is Installing to its having Succeeded",
    }
)


def controllers(cluster: Cluster) -> list[Controller]:
    """One for each kind, and one for what is there from the start."""
    groups = Groups(cluster)
    beginning = Path(__file__).with_name("initial_objects.yaml")
    return [
        InitialObjects(cluster, beginning, (NAMESPACES, OPERATOR_GROUPS, CATALOG_SOURCES, DEPLOYMENTS)).controller,
        groups.controller,
        Catalogs(cluster).controller,
        Subscriptions(cluster).controller,
        Plans(cluster, groups).controller,
        Versions(cluster, groups).controller,
        Copies(cluster, groups).controller,
    ]
