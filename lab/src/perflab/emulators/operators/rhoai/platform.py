"""Which operator runs, where, as which flavour, and what it makes by itself when it starts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from perflab.cluster.api import Document
from perflab.emulators.framework.cluster import Cluster
from perflab.emulators.framework.controller import Controller
from perflab.emulators.framework.documents import own_labels
from perflab.emulators.framework.operator_deployments import OPERATOR, Operator
from perflab.emulators.framework.resources import (
    CATALOG_SOURCES,
    CONFIG_MAPS,
    DATA_SCIENCE_CLUSTERS,
    DEPLOYMENTS,
    DSC_INITIALIZATIONS,
)
from perflab.emulators.framework.store import Key

GENERATED = "opendatahub.io/generated-namespace"
# on the ConfigMap that asks for the end
DELETE = "api.openshift.com/addon-managed-odh-delete"
READY, NOT_READY, ERROR = "Ready", "Not Ready", "Error"

_MANAGED_CATALOG = "addon-managed-odh-catalog"
_DISABLED = "DISABLE_DSC_CONFIG"
_START: Key = ("", "start")
_OF_THE_MANAGED = ("dashboard", "datasciencepipelines", "kserve", "modelmeshserving", "workbenches")


@dataclass(frozen=True, slots=True)
class Product:
    """One of the two products of this operator."""

    package: str
    title: str
    applications: str
    monitoring: str
    notebooks: str


_RHOAI = Product(
    "rhods-operator", "OpenShift AI", "redhat-ods-applications", "redhat-ods-monitoring", "rhods-notebooks"
)
_ODH = Product("opendatahub-operator", "Open Data Hub", "opendatahub", "opendatahub", "")


class Platform:
    """The operator as the controllers of its kinds need it."""

    def __init__(self, cluster: Cluster) -> None:
        """Over the Deployments of both products."""
        self._operators = {product: Operator(cluster, product.package) for product in (_RHOAI, _ODH)}
        self._deployments = {
            product: cluster.store(DEPLOYMENTS, f"{OPERATOR}={product.package}") for product in self._operators
        }
        self._requests = cluster.store(CONFIG_MAPS, DELETE)
        self._clusters = cluster.store(DATA_SCIENCE_CLUSTERS)
        self._initializations = cluster.store(DSC_INITIALIZATIONS)
        self._catalogs = cluster.store(CATALOG_SOURCES)
        self._started = False
        self.controller = Controller("start", self._start)
        self.listen(lambda: self.controller.enqueue(_START))

    def listen(self, callback: Callable[[], None]) -> None:
        """Call *callback* when an operator begins to run, and when it ends."""
        for operator in self._operators.values():
            operator.listen(callback)

    @property
    def product(self) -> Product | None:
        """The product whose operator runs."""
        return next((product for product, operator in self._operators.items() if operator.running), None)

    @property
    def namespace(self) -> str:
        """Where the operator that runs is installed; empty when none runs."""
        deployment = self._deployment()
        return str(deployment["metadata"]["namespace"]) if deployment else ""

    def release(self, product: Product) -> Document:
        """The product's name, with its flavour, and its version."""
        flavour = f" {'Cloud Service' if self._is_managed() else 'Self-Managed'}" if product is _RHOAI else ""
        deployment = self._deployment()
        owner = own_labels(deployment).get("olm.owner", "") if deployment else ""
        version = owner.removeprefix(f"{product.package}.").removeprefix("v")
        return {"name": f"{product.title}{flavour}", "version": version}

    def asked_to_end(self) -> bool:
        """Whether a ConfigMap beside the operator asks it to uninstall itself."""
        return any(
            request["metadata"]["namespace"] == self.namespace and request["metadata"]["labels"][DELETE] == "true"
            for request in self._requests.values()
        )

    def _deployment(self) -> Document | None:
        product = self.product
        return next(iter(self._deployments[product].values()), None) if product else None

    def _is_managed(self) -> bool:
        return self._catalogs.get((self.namespace, _MANAGED_CATALOG)) is not None

    async def _start(self, _key: Key) -> float | None:
        """What the operator does once each time it starts; what is deleted later stays so."""
        product = self.product
        if product is None:
            self._started = False
        elif not self._started and not self.asked_to_end():
            await self._make_defaults(product)
            self._started = True
        return None

    async def _make_defaults(self, product: Product) -> None:
        if not self._initializations.values() and not self._is_disabled():
            await self._initializations.create(_default_initialization(product))
        if product is _RHOAI and not self._clusters.values() and self._is_managed():
            await self._clusters.create(_default_cluster())

    def _is_disabled(self) -> bool:
        deployment = self._deployment()
        containers = deployment["spec"]["template"]["spec"]["containers"] if deployment else []
        variables = [variable for container in containers for variable in container.get("env") or ()]
        return any(item["name"] == _DISABLED and item.get("value", "") != "false" for item in variables)


def _default_initialization(product: Product) -> Document:
    return {
        "metadata": {"name": "default-dsci"},
        "spec": {
            "applicationsNamespace": product.applications,
            "monitoring": {"managementState": "Managed", "namespace": product.monitoring},
            "serviceMesh": {"managementState": "Managed"},
            "trustedCABundle": {"managementState": "Managed"},
        },
    }


def _default_cluster() -> Document:
    components = {name: {"managementState": "Managed"} for name in _OF_THE_MANAGED}
    return {"metadata": {"name": "default-dsc"}, "spec": {"components": components}}
