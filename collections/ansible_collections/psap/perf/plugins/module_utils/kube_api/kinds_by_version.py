"""Discovery of the kinds that a cluster serves, one API group or version at a time.

The client's own discoverer reads every group of the cluster and caches them in a file that can list removed CRDs. Verbs
need one or two kinds: one request of about two milliseconds for each group and API version, and never out of date.
"""

from __future__ import annotations

import json
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.kube_api.known_kinds import is_group, versions_of
from kubernetes.dynamic.exceptions import NotFoundError
from kubernetes.dynamic.resource import Resource

# It is the first request to a cluster, and the client tries four times: without a response it fails after a minute.
_REQUEST_TIMEOUT_S = (5, 10)


class KindsByVersion:
    """A discoverer for ``kubernetes.dynamic.DynamicClient``."""

    def __init__(self, client: Any, _cache_file: str | None) -> None:
        """Store *client*; the first search sends the first request."""
        self._client = client
        self._served: dict[str, dict[str, Any]] = {}
        self._preferred: dict[tuple[str, str], Any] = {}

    def find(self, api_version: str, kind: str) -> Any | None:
        """Return the resource for *kind* of *api_version*, or None if the cluster does not serve it.

        For a group, this is the version that the server prefers among those that have the kind. Each search for a
        missing kind sends a new request: a CRD may just have been installed.
        """
        if not is_group(api_version):
            return self._of_version(api_version, kind)
        if (api_version, kind) not in self._preferred:
            for version in versions_of(self._read(f"/apis/{api_version}")):
                found = self._of_version(version, kind)
                if found is not None:
                    self._preferred[api_version, kind] = found
                    break
        return self._preferred.get((api_version, kind))

    def _of_version(self, api_version: str, kind: str) -> Any | None:
        served = self._served.get(api_version)
        if served is None or kind not in served:
            served = self._served[api_version] = self._read_version(api_version)
        return served.get(kind)

    def _read_version(self, api_version: str) -> dict[str, Any]:
        group, _slash, version = api_version.rpartition("/")
        prefix = "apis" if group else "api"
        listed = self._read(f"/{prefix}/{api_version}").get("resources", [])
        return {
            entry["kind"]: Resource(
                prefix=prefix,
                group=group,
                api_version=version,
                kind=entry["kind"],
                namespaced=entry["namespaced"],
                verbs=entry["verbs"],
                name=entry["name"],
                client=self._client,
            )
            for entry in listed
            if "/" not in entry["name"]
        }

    def _read(self, path: str) -> dict[str, Any]:
        """Return the server's list below *path*; empty if it does not serve the group or version."""
        try:
            answer = self._client.request("get", path, serialize=False, _request_timeout=_REQUEST_TIMEOUT_S)
        except NotFoundError:
            return {}
        listed: dict[str, Any] = json.loads(answer.data)
        return listed
