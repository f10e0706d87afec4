"""Which kinds a cluster serves, asked for one API version at a time.

The client's own discoverer reads every group of the cluster and keeps the answer in a file that outlives removed CRDs.
A verb needs one kind or two: one request for each API version, two milliseconds, and never out of date.
"""

from __future__ import annotations

import json
from typing import Any

from kubernetes.dynamic.exceptions import NotFoundError
from kubernetes.dynamic.resource import Resource

# it is the first request to a cluster, and the client tries four times: one that is silent is given up after a minute
_REQUEST_TIMEOUT_S = (5, 10)


class KindsByVersion:
    """A discoverer for ``kubernetes.dynamic.DynamicClient``."""

    def __init__(self, client: Any, _cache_file: str | None) -> None:
        """Nothing is read yet."""
        self._client = client
        self._known: dict[str, dict[str, Any]] = {}

    def find(self, api_version: str, kind: str) -> Any | None:
        """The resource for *kind* of *api_version*, or None where the cluster does not serve it.

        What is not there is asked for anew each time: a CRD may just have been installed.
        """
        served = self._known.get(api_version)
        if served is None or kind not in served:
            served = self._known[api_version] = self._served(api_version)
        return served.get(kind)

    def _served(self, api_version: str) -> dict[str, Any]:
        group, _slash, version = api_version.rpartition("/")
        prefix = "apis" if group else "api"
        try:
            answer = self._client.request(
                "get", f"/{prefix}/{api_version}", serialize=False, _request_timeout=_REQUEST_TIMEOUT_S
            )
        except NotFoundError:
            return {}
        listed = json.loads(answer.data)["resources"]
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
