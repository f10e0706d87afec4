"""Install add-ons of managed OpenShift clusters by the API of OpenShift Cluster Manager (OCM)."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import quote

from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError, PerfError, WaitTimeoutError
from ansible_collections.psap.perf.plugins.module_utils.openshift.cluster_manager import CLUSTERS, ClusterManager

_ADDONS = "/api/clusters_mgmt/v1/addons"
READY, INSTALLING = "ready", "installing"
_OVER = ("failed", "deleting")
_PAUSE_S, _LONGEST_PAUSE_S = 0.5, 10.0


@dataclass(frozen=True, slots=True)
class Installation:
    """An add-on in a cluster: its state, the reason, and the version of its operator if OCM returns one."""

    state: str
    description: str
    csv: str


class Manager(Protocol):
    """The methods of OCM that are used."""

    def installation(self, cluster: str, addon: str) -> Installation | None:
        """Return the add-on in a cluster, by their ids."""

    def install(self, cluster: str, addon: str, parameters: Mapping[str, str]) -> None:
        """Request an add-on."""


class AddonManager(ClusterManager):
    """A connection to OCM for add-ons."""

    def namespace(self, addon: str) -> str:
        """Return the namespace of an add-on's operator."""
        found = self.call("GET", f"{_ADDONS}/{quote(addon)}")
        if found is None:
            raise ClusterError(f"OCM has no add-on {addon}")
        return str(found["target_namespace"])

    def installation(self, cluster: str, addon: str) -> Installation | None:
        """Return the add-on in a cluster, by their ids; None if it is not installed."""
        found = self.call("GET", f"{CLUSTERS}/{quote(cluster)}/addons/{quote(addon)}")
        if found is None:
            return None
        state, words, csv = (str(found.get(name) or "") for name in ("state", "state_description", "csv_name"))
        return Installation(state, words, csv)

    def install(self, cluster: str, addon: str, parameters: Mapping[str, str]) -> None:
        """Request an add-on."""
        items = [{"id": name, "value": value} for name, value in parameters.items()]
        body = {"addon": {"id": addon}, "parameters": {"items": items}}
        if self.call("POST", f"{CLUSTERS}/{quote(cluster)}/addons", body) is None:
            raise ClusterError(f"OCM no longer has the cluster {cluster}")


@dataclass(frozen=True, slots=True)
class AddonRequest:
    """A request for an add-on in a cluster, by the ids of both.

    Args:
        until_ready: Wait until it is ready, and not only until its installation begins.
    """

    cluster: str
    addon: str
    parameters: Mapping[str, str]
    until_ready: bool
    timeout_s: float


def install_addon(manager: Manager, wanted: AddonRequest, check: Callable[[], None]) -> tuple[Installation, bool]:
    """Install an add-on unless it exists, and wait for it.

    Args:
        check: Raises Interrupted if the user stops the run.

    Returns:
        The add-on, and whether it was installed by this call.

    Raises:
        PerfError: If the installation fails, or the add-on is being deleted.
        WaitTimeoutError: If it is not ready in time.
    """
    deadline, pause_s = time.monotonic() + wanted.timeout_s, _PAUSE_S
    found = manager.installation(wanted.cluster, wanted.addon)
    requested = found is None
    if requested:
        manager.install(wanted.cluster, wanted.addon, wanted.parameters)
    enough = (READY,) if wanted.until_ready else (READY, INSTALLING)
    while found is None or found.state not in enough:
        if found is not None and found.state in _OVER:
            raise PerfError(
                f"the add-on {wanted.addon} is {found.state}: {found.description or 'OCM returned no reason'}; "
                "delete it in OCM before it is installed again"
            )
        if time.monotonic() >= deadline:
            state = f"{found.state} {found.description}".strip() if found else "not there"
            raise WaitTimeoutError(
                f"the add-on {wanted.addon} was not ready within {wanted.timeout_s:g} s: it is {state}"
            )
        _pause(min(pause_s, wanted.timeout_s), check)
        pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)
        found = manager.installation(wanted.cluster, wanted.addon)
    return found, requested


def _pause(seconds: float, check: Callable[[], None]) -> None:
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0:
        check()
        time.sleep(min(left, 0.25))
    check()
