"""A connection to the API of OpenShift Cluster Manager (OCM), which manages clusters."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlencode, urlsplit

import urllib3
import urllib3.exceptions
from ansible_collections.psap.perf.plugins.module_utils.base.errors import (
    ClusterError,
    PerfError,
    UsageError,
    certificate_advice,
    short,
)

CLUSTERS = "/api/clusters_mgmt/v1/clusters"
# the client of OCM's command line, for which users get offline tokens
_CLIENT = "cloud-services"
_TIMEOUT = urllib3.Timeout(connect=10, read=60)
_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_OK, _MISSING, _UNKNOWN = 200, 404, 401
_REFUSED = 400


class ClusterManager:
    """A connection to OCM.

    Every call raises a ClusterError if OCM cannot be reached or rejects the token, and a PerfError if it refuses the
    request.
    """

    def __init__(self, api: str, sso: str, offline_token: str, hide: Callable[[str], None]) -> None:
        """Store the arguments.

        Args:
            api: Address of the API.
            sso: Address that exchanges the user's offline token for access tokens.
            offline_token: The user's offline token.
            hide: Called with every token.

        Raises:
            UsageError: If the tokens would be sent through a network in plain text.
        """
        for url in (api, sso):
            parts = urlsplit(url)
            if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in _LOOPBACK):
                raise UsageError(f"{url} is not an https URL: a token would be sent in plain text")
        self._api, self._sso = api.rstrip("/"), sso
        self._offline_token, self._hide = offline_token, hide
        self._token = ""
        self._pool = urllib3.PoolManager(timeout=_TIMEOUT, retries=urllib3.Retry(total=2, connect=1, read=0))

    def __enter__(self) -> Self:
        """Return the connection."""
        return self

    def __exit__(self, *ended: type[BaseException] | BaseException | TracebackType | None) -> None:
        """Close the connections."""
        self._pool.clear()

    def cluster_id(self, name: str) -> str:
        """Return the id of the cluster *name*."""
        items = self._list(name)
        if len(items) != 1:
            raise ClusterError(
                f"OCM has {'no cluster' if not items else 'several clusters'} called {name} that the token can list"
            )
        return str(items[0]["id"])

    def find(self, name: str) -> dict[str, Any] | None:
        """Return the cluster *name*; None if the token can list none of this name."""
        items = self._list(name)
        return items[0] if items else None

    def call(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> dict[str, Any] | None:
        """Return the response of OCM; None for a 404. An expired token is replaced once."""
        for fresh in (not self._token, True):
            if fresh:
                self._token = self._request_token()
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

    def _list(self, name: str) -> list[dict[str, Any]]:
        quoted = name.replace("'", "''")
        query = urlencode({"search": f"name = '{quoted}'", "size": 2})
        return list((self.call("GET", f"{CLUSTERS}?{query}") or {}).get("items") or [])

    def _request_token(self) -> str:
        form = {"grant_type": "refresh_token", "client_id": _CLIENT, "refresh_token": self._offline_token}
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        status, answer = self._request("POST", self._sso, headers, urlencode(form))
        if status != _OK or not answer.get("access_token"):
            reason = answer.get("error_description") or answer.get("error") or status
            raise ClusterError(f"{self._sso} did not accept the offline token: {reason}; get another one from OCM")
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
            reason = "; ".join(filter(None, (short(cause), certificate_advice(cause))))
            raise ClusterError(f"cannot reach OCM at {urlsplit(url).netloc}: {reason}") from error
        try:
            document = json.loads(answer.data or b"{}")
        except ValueError:
            document = {"reason": answer.data[:200].decode("utf-8", "replace")}
        return answer.status, document if isinstance(document, dict) else {"reason": document}
