"""Errors of requests to an API server, each one sentence with advice."""

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

_UNKNOWN_USER, _FORBIDDEN, _TOO_MANY, _INTERNAL = 401, 403, 429, 500
_ANONYMOUS = "system:anonymous"
# returned by a server that starts or is overloaded, by a proxy in front of a stopped server, and if etcd is unavailable
_UNAVAILABLE = (_TOO_MANY, 502, 503, 504)
_NEVER_SENT = (urllib3.exceptions.NewConnectionError, urllib3.exceptions.ConnectTimeoutError, ConnectionRefusedError)


class UnknownKindError(ClusterError):
    """The cluster does not serve the kind: its CRD is missing."""


class NotFoundError(ClusterError):
    """The object does not exist."""


class DeniedError(ClusterError):
    """The server does not accept the credentials, or the user has no permission."""


class ForbiddenError(DeniedError):
    """The user has no permission."""


class ConflictError(ClusterError):
    """The object exists already, or has changed since it was read."""


class InvalidError(ClusterError):
    """The server rejects the object, or the change of an immutable field."""


class ShortTokenError(ClusterError):
    """The server limits the lifetime of tokens."""


_REFUSALS: dict[int, type[ClusterError]] = {
    _FORBIDDEN: ForbiddenError,
    404: NotFoundError,
    409: ConflictError,
    422: InvalidError,
}


@dataclass(frozen=True, slots=True)
class ErrorReporter:
    """Converts exceptions of the kubernetes client to errors that name the server and the credentials."""

    access: Access
    endpoint: ApiEndpoint

    @contextlib.contextmanager
    def reported(self, doing: str) -> Iterator[None]:
        """Convert an exception of the client in this block to an error of one sentence."""
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
            message = (
                f"cannot reach the cluster at {self.endpoint.server}{through} while {doing}: {short(cause)}; {advice}"
            )
            if isinstance(cause, urllib3.exceptions.SSLError):
                raise ClusterError(message) from error
            raise UnavailableError(message, untouched=isinstance(cause, _NEVER_SENT)) from error

    def _refused(self, doing: str, error: Any) -> ClusterError:
        """Return the error for a refused request, with the reason if only this side can determine it."""
        message = _message_of(error)
        if error.status == _UNKNOWN_USER:
            advice = expiry_advice(self.endpoint) or "log in again, or renew it"
            return DeniedError(
                f"{self.endpoint.server} does not accept the credentials of {self._credentials_of()} "
                f"while {doing} ({error.status}: {message}); {advice}"
            )
        if error.status == _FORBIDDEN and _ANONYMOUS in message:
            message += f"; {self._credentials_of()} has no credentials for its user, so the request was anonymous"
        refusal = f"{self.endpoint.server} refused {doing} with {error.status}: {message}"
        if error.status in _UNAVAILABLE or (error.status == _INTERNAL and "etcdserver" in message):
            return UnavailableError(refusal, untouched=error.status == _TOO_MANY)
        return _REFUSALS.get(error.status, ClusterError)(refusal)

    def _credentials_of(self) -> str:
        """Return where the credentials are configured, for messages."""
        if self.access.kubeconfig:
            return f"the kubeconfig {self.access.kubeconfig}"
        return "K8S_AUTH_HOST and K8S_AUTH_API_KEY" if os.environ.get("K8S_AUTH_HOST") else "the default kubeconfig"


def check_lifetime(granted_s: int, wanted_s: int) -> None:
    """Check that a token is valid as long as requested.

    Raises:
        ShortTokenError: If the server shortened its lifetime.
    """
    if granted_s < wanted_s:
        raise ShortTokenError(
            f"the cluster limits tokens of service accounts to {granted_s} s, but {wanted_s} s are needed"
        )


def _message_of(error: Any) -> str:
    try:
        return str(json.loads(error.body)["message"])
    except (TypeError, ValueError, KeyError):
        return str(error.reason or "no reason given")
