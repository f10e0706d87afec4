"""Paths of the API server that are no objects, such as ``/debug/pprof/heap``."""

from __future__ import annotations

from collections.abc import Callable

import kubernetes.client
import urllib3.exceptions
from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError, short
from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.access import Access, connect

_CONNECT_S = 10


class ApiServer:
    """A connection to the API server of a cluster."""

    def __init__(self, access: Access, check: Callable[[], None] = lambda: None) -> None:
        """Read the credentials; this sends nothing.

        Raises:
            ClusterError: If no cluster is configured, or its credentials cannot be used.
        """
        self._endpoint = access.endpoint(check)
        self._api = connect(self._endpoint)

    def raw(self, path: str, timeout_s: float) -> tuple[int, bytes]:
        """Return status and body of a path.

        Raises:
            ClusterError: If the server does not respond.
        """
        try:
            answer = self._api.call_api(
                path,
                "GET",
                auth_settings=["BearerToken"],
                _preload_content=False,
                _return_http_data_only=True,
                _request_timeout=(_CONNECT_S, timeout_s),
            )
        except kubernetes.client.ApiException as error:
            body = error.body or b""
            return int(error.status or 0), body if isinstance(body, bytes) else str(body).encode()
        except (urllib3.exceptions.HTTPError, OSError) as error:
            cause = getattr(error, "reason", None) or error
            raise ClusterError(f"the API server {self._endpoint.server} does not respond: {short(cause)}") from error
        return int(answer.status), bytes(answer.data)

    def close(self) -> None:
        """Close the connections."""
        self._api.close()
