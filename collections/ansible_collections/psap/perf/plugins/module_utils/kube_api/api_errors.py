"""What goes wrong between a client and an API server, each as one sentence with what to do."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import kubernetes
import kubernetes.client
import kubernetes.dynamic.exceptions
import urllib3.exceptions
from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError, certificate_advice, short
from ansible_collections.psap.perf.plugins.module_utils.kube_api.outage import UnavailableError
from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.access import Access, expiry_advice, split_login
from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.endpoint import ApiEndpoint

# a server that starts or is overloaded answers with these, and a proxy before a server that is away, or etcd
_UNKNOWN_USER, _FORBIDDEN, _TOO_MANY, _INTERNAL = 401, 403, 429, 500
_ANONYMOUS = "system:anonymous"
_UNAVAILABLE = (_TOO_MANY, 502, 503, 504)
_NEVER_SENT = (urllib3.exceptions.NewConnectionError, urllib3.exceptions.ConnectTimeoutError, ConnectionRefusedError)


class UnknownKindError(ClusterError):
    """The cluster does not serve the kind: its CRD is not there."""


class NotFoundError(ClusterError):
    """There is no such object."""


class DeniedError(ClusterError):
    """The server does not know us, or does not let us."""


class ForbiddenError(DeniedError):
    """The server does not let us."""


class ConflictError(ClusterError):
    """Somebody else was faster: the object exists, or has changed since it was read."""


class InvalidError(ClusterError):
    """The server does not take the object as it is, or not in place of the one it has."""


_REFUSALS: dict[int, type[ClusterError]] = {
    _FORBIDDEN: ForbiddenError,
    404: NotFoundError,
    409: ConflictError,
    422: InvalidError,
}


@dataclass(frozen=True, slots=True)
class ErrorReporter:
    """Turns what the kubernetes client raises into errors of ours, which name the server and the credentials."""

    access: Access
    endpoint: ApiEndpoint

    @contextlib.contextmanager
    def reported(self, doing: str) -> Iterator[None]:
        """Turn what the client raises into one sentence."""
        try:
            yield
        except kubernetes.client.ApiException as error:
            raise self._refused(doing, error) from error
        except kubernetes.dynamic.exceptions.DynamicApiError as error:
            raise self._refused(doing, error) from error
        except (urllib3.exceptions.HTTPError, OSError) as error:
            cause = getattr(error, "reason", None) or error
            advice = certificate_advice(cause) or f"is it up, and is {self._credentials_of()} right?"
            through = f" through the proxy {split_login(self.endpoint.proxy)[0]}" if self.endpoint.proxy else ""
            told = (
                f"cannot reach the cluster at {self.endpoint.server}{through} while {doing}: {short(cause)}; {advice}"
            )
            if isinstance(cause, urllib3.exceptions.SSLError):
                raise ClusterError(told) from error
            raise UnavailableError(told, untouched=isinstance(cause, _NEVER_SENT)) from error

    def _refused(self, doing: str, error: Any) -> ClusterError:
        """The server's refusal, with the reason where only we know it."""
        message = _message_of(error)
        if error.status == _UNKNOWN_USER:
            advice = expiry_advice(self.endpoint) or "log in again, or renew it"
            return DeniedError(
                f"{self.endpoint.server} does not accept the credentials of {self._credentials_of()} "
                f"while {doing} ({error.status}: {message}); {advice}"
            )
        if error.status == _FORBIDDEN and _ANONYMOUS in message:
            message += f"; {self._credentials_of()} gives its user no credentials, so the request was anonymous"
        told = f"{self.endpoint.server} refused {doing} with {error.status}: {message}"
        if error.status in _UNAVAILABLE or (error.status == _INTERNAL and "etcdserver" in message):
            return UnavailableError(told, untouched=error.status == _TOO_MANY)
        return _REFUSALS.get(error.status, ClusterError)(told)

    def _credentials_of(self) -> str:
        """What named the cluster, for messages."""
        if self.access.kubeconfig:
            return f"the kubeconfig {self.access.kubeconfig}"
        return "K8S_AUTH_HOST and K8S_AUTH_API_KEY" if os.environ.get("K8S_AUTH_HOST") else "the default kubeconfig"


def _message_of(error: Any) -> str:
    try:
        return str(json.loads(error.body)["message"])
    except (TypeError, ValueError, KeyError):
        return str(error.reason or "no reason given")
