"""Add-ons of managed OpenShift clusters, by the API of OpenShift Cluster Manager (OCM)."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Protocol, Self
from urllib.parse import quote, urlencode, urlsplit

import urllib3
import urllib3.exceptions
from ansible_collections.psap.perf.plugins.module_utils.base.errors import (
    ClusterError,
    PerfError,
    UsageError,
    WaitTimeoutError,
    certificate_advice,
    short,
)

_CLUSTERS = "/api/clusters_mgmt/v1/clusters"
_ADDONS = "/api/clusters_mgmt/v1/addons"
# that of OCM's own command line, for which users get offline tokens
_CLIENT = "cloud-services"
_TIMEOUT = urllib3.Timeout(connect=10, read=60)
_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_OK, _MISSING, _UNKNOWN = 200, 404, 401
_REFUSED = 400
READY, INSTALLING = "ready", "installing"
_OVER = ("failed", "deleting")
_PAUSE_S, _LONGEST_PAUSE_S = 0.5, 10.0


@dataclass(frozen=True, slots=True)
class Installation:
    """An add-on in a cluster: its state, why it is so, and the version of its operator, as far as OCM knows."""

    state: str
    description: str
    csv: str


class Manager(Protocol):
    """What is needed of OCM."""

    def installation(self, cluster: str, addon: str) -> Installation | None:
        """The add-on in a cluster, by their ids."""

    def install(self, cluster: str, addon: str, parameters: Mapping[str, str]) -> None:
        """Ask for an add-on."""


class ClusterManager:
    """A connection to OCM.

    :raises ClusterError: from every call, when it cannot be reached or does not let us in.
    :raises PerfError: from every call, when it refuses what it is asked.
    """

    def __init__(self, api: str, sso: str, offline_token: str, hide: Callable[[str], None]) -> None:
        """:param sso: where tokens are made of the user's offline one.

        :param hide: is told of every token.
        :raises UsageError: when the tokens would go through a network in the clear.
        """
        for url in (api, sso):
            parts = urlsplit(url)
            if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in _LOOPBACK):
                raise UsageError(f"{url} is no https URL: a token would be sent in the clear")
        self._api, self._sso = api.rstrip("/"), sso
        self._offline_token, self._hide = offline_token, hide
        self._token = ""
        self._pool = urllib3.PoolManager(timeout=_TIMEOUT, retries=urllib3.Retry(total=2, connect=1, read=0))

    def __enter__(self) -> Self:
        """Itself."""
        return self

    def __exit__(self, *ended: type[BaseException] | BaseException | TracebackType | None) -> None:
        """Close the connections."""
        self._pool.clear()

    def cluster_id(self, name: str) -> str:
        """The id of the cluster that is called *name*."""
        quoted = name.replace("'", "''")
        asked = urlencode({"search": f"name = '{quoted}'", "size": 2})
        found = self._call("GET", f"{_CLUSTERS}?{asked}")
        items = (found or {}).get("items") or []
        if len(items) != 1:
            raise ClusterError(
                f"OCM knows {'no cluster' if not items else 'several clusters'} called {name}, of those that the token "
                "may see"
            )
        return str(items[0]["id"])

    def namespace(self, addon: str) -> str:
        """Where an add-on's operator is installed."""
        found = self._call("GET", f"{_ADDONS}/{quote(addon)}")
        if found is None:
            raise ClusterError(f"OCM has no add-on {addon}")
        return str(found["target_namespace"])

    def installation(self, cluster: str, addon: str) -> Installation | None:
        """The add-on in a cluster, by their ids; None when it is not installed."""
        found = self._call("GET", f"{_CLUSTERS}/{quote(cluster)}/addons/{quote(addon)}")
        if found is None:
            return None
        state, words, csv = (str(found.get(name) or "") for name in ("state", "state_description", "csv_name"))
        return Installation(state, words, csv)

    def install(self, cluster: str, addon: str, parameters: Mapping[str, str]) -> None:
        """Ask for an add-on."""
        items = [{"id": name, "value": value} for name, value in parameters.items()]
        body = {"addon": {"id": addon}, "parameters": {"items": items}}
        if self._call("POST", f"{_CLUSTERS}/{quote(cluster)}/addons", body) is None:
            raise ClusterError(f"OCM does not know the cluster {cluster} any more")

    def _call(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> dict[str, Any] | None:
        """What OCM answers; None when there is no such thing. A token that has expired is replaced once."""
        for fresh in (not self._token, True):
            if fresh:
                self._token = self._made_token()
            headers = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"}
            status, answer = self._request(method, f"{self._api}{path}", headers, json.dumps(body) if body else None)
            if status != _UNKNOWN:
                break
        if status == _MISSING:
            return None
        if status >= _REFUSED:
            raise PerfError(
                f"OCM refused {method} {path.partition('?')[0]} with {status}: {answer.get('reason') or answer}"
            )
        return answer

    def _made_token(self) -> str:
        form = {"grant_type": "refresh_token", "client_id": _CLIENT, "refresh_token": self._offline_token}
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        status, answer = self._request("POST", self._sso, headers, urlencode(form))
        if status != _OK or not answer.get("access_token"):
            said = answer.get("error_description") or answer.get("error") or status
            raise ClusterError(f"{self._sso} makes no token of the offline token: {said}; get another one from OCM")
        token = str(answer["access_token"])
        self._hide(token)
        return token

    def _request(
        self, method: str, url: str, headers: Mapping[str, str], body: str | None
    ) -> tuple[int, dict[str, Any]]:
        try:
            answer = self._pool.request(method, url, headers=headers, body=body)
        except urllib3.exceptions.HTTPError as error:
            cause = getattr(error, "reason", None) or error
            said = "; ".join(filter(None, (short(cause), certificate_advice(cause))))
            raise ClusterError(f"cannot reach OCM at {urlsplit(url).netloc}: {said}") from error
        try:
            document = json.loads(answer.data or b"{}")
        except ValueError:
            document = {"reason": answer.data[:200].decode("utf-8", "replace")}
        return answer.status, document if isinstance(document, dict) else {"reason": document}


@dataclass(frozen=True, slots=True)
class Wanted:
    """An add-on that a cluster is to have, by the ids of both.

    :param until_ready: else it is enough that the installation has begun.
    """

    cluster: str
    addon: str
    parameters: Mapping[str, str]
    until_ready: bool
    timeout_s: float


def installed(manager: Manager, wanted: Wanted, check: Callable[[], None]) -> tuple[Installation, bool]:
    """Install an add-on unless it is there, and wait for what becomes of it; also whether it was not there before.

    :param check: raises when the user asked to stop.
    :raises PerfError: when the installation fails, or the add-on is being deleted.
    :raises WaitTimeoutError: when it does not come in time.
    """
    deadline, pause_s = time.monotonic() + wanted.timeout_s, _PAUSE_S
    found = manager.installation(wanted.cluster, wanted.addon)
    asked = found is None
    if asked:
        manager.install(wanted.cluster, wanted.addon, wanted.parameters)
    enough = (READY,) if wanted.until_ready else (READY, INSTALLING)
    while found is None or found.state not in enough:
        if found is not None and found.state in _OVER:
            raise PerfError(
                f"the add-on {wanted.addon} is {found.state}: {found.description or 'OCM gives no reason'}; "
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
    return found, asked


def _pause(seconds: float, check: Callable[[], None]) -> None:
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0:
        check()
        time.sleep(min(left, 0.25))
    check()
