"""Whether the operator of a product runs: its emulator only acts while it does.

OLM creates the Deployments of an operator as a package of the lab's catalogs declares, with a label that names the
package. An operator that is not installed yet, is removed, or is scaled to zero does not run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from perflab.catalogs.bundles import OPERATOR
from perflab.cluster.api import Document
from perflab.emulators.framework.cluster import Cluster
from perflab.emulators.framework.resources import DEPLOYMENTS


class Operators:
    """The operators of a product's packages, of which at most one runs."""

    def __init__(self, cluster: Cluster, packages: Iterable[str]) -> None:
        """*packages* are their names in the catalogs."""
        self.packages = tuple(packages)
        self._deployments = {name: cluster.store(DEPLOYMENTS, f"{OPERATOR}={name}") for name in self.packages}
        self._listeners: list[Callable[[], None]] = []
        self._known = self.running
        for store in self._deployments.values():
            store.listen(self._changed)

    @property
    def running(self) -> Document | None:
        """Return `package`, `namespace`, `labels` of its first Deployment; None if none runs."""
        for package, store in self._deployments.items():
            deployments = store.values()
            if deployments and all(map(_is_available, deployments)):
                metadata = deployments[0]["metadata"]
                labels = metadata.get("labels") or {}
                return {"package": package, "namespace": metadata["namespace"], "labels": labels}
        return None

    def listen(self, callback: Callable[[], None]) -> None:
        """Call *callback* when another one runs, or none, or another version of it."""
        self._listeners.append(callback)

    def _changed(self, _old: Document | None, _new: Document | None) -> None:
        if self.running != self._known:
            self._known = self.running
            for listener in self._listeners:
                listener()


def _is_available(deployment: Document) -> bool:
    # the condition Available is true of a Deployment without replicas, too
    return bool((deployment.get("status") or {}).get("availableReplicas"))
