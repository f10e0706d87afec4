"""Log in to an OpenShift with a user's password, like ``oc login``."""

from __future__ import annotations

import json
import ssl
from collections.abc import Callable
from urllib.parse import parse_qs, urlencode, urlsplit

import urllib3
import urllib3.exceptions
from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError, certificate_advice, short
from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.access import Access, http_pool
from ansible_collections.psap.perf.plugins.module_utils.waiting.polling import poll_until

# OpenShift's client for programs that ask for a password
_CLIENT = "openshift-challenging-client"
_METADATA = "/.well-known/oauth-authorization-server"
_OK, _FOUND, _DENIED = 200, 302, 401
_TIMEOUT = urllib3.Timeout(connect=10, read=30)


class Logins:
    """The OAuth server of a cluster."""

    def __init__(self, access: Access) -> None:
        """Read its address from the API server; trust the CA certificates of that and of this machine.

        Raises:
            ClusterError: If the cluster has no OAuth server.
        """
        endpoint = access.endpoint()
        self.server = endpoint.server
        trusted = ssl.create_default_context()
        if endpoint.certificate_authority:
            trusted.load_verify_locations(cadata=endpoint.certificate_authority.decode())
        if endpoint.insecure:
            trusted.check_hostname, trusted.verify_mode = False, ssl.CERT_NONE
        self._pool = http_pool(endpoint.proxy, ssl_context=trusted, timeout=_TIMEOUT, retries=False)
        self._endpoint = self._authorization_endpoint()

    def attempt(self, user: str, password: str, hide: Callable[[str], None]) -> str:
        """Log in once, and return the reason of a failure; empty after a success.

        Args:
            hide: Called with the token, which is discarded.
        """
        query = urlencode({"client_id": _CLIENT, "response_type": "token"})
        headers = {"X-CSRF-Token": "1", **urllib3.make_headers(basic_auth=f"{user}:{password}")}
        try:
            answer = self._pool.request("GET", f"{self._endpoint}?{query}", headers=headers, redirect=False)
        except urllib3.exceptions.HTTPError as error:
            cause = getattr(error, "reason", None) or error
            return "; ".join(filter(None, (short(cause), certificate_advice(cause))))
        fragment = urlsplit(answer.headers.get("Location", "")).fragment
        token = parse_qs(fragment).get("access_token", [""])[0]
        if answer.status == _FOUND and token:
            hide(token)
            return ""
        refused = answer.status == _DENIED
        return f"the user is unknown, or has another password ({_DENIED})" if refused else f"answer {answer.status}"

    def wait(
        self,
        user: str,
        password: str,
        timeout_s: float,
        check: Callable[[], None],
        show: Callable[[str], None],
        hide: Callable[[str], None],
    ) -> None:
        """Retry the login until it succeeds: the OAuth server restarts with a new provider, which takes minutes.

        Raises:
            WaitTimeoutError: If no login succeeds in time.
        """

        def log_in() -> tuple[bool, str]:
            reason = self.attempt(user, password, hide)
            return not reason, reason

        poll_until(log_in, f"{user} could not log in at {self.server}", timeout_s, check, show, longest_pause_s=10)

    def _authorization_endpoint(self) -> str:
        try:
            answer = self._pool.request("GET", f"{self.server}{_METADATA}")
            if answer.status == _OK:
                return str(json.loads(answer.data)["authorization_endpoint"])
        except urllib3.exceptions.HTTPError as error:
            raise ClusterError(
                f"cannot reach {self.server}: {short(getattr(error, 'reason', None) or error)}"
            ) from error
        except (ValueError, KeyError, TypeError) as error:
            raise ClusterError(f"{self.server}{_METADATA} names no OAuth server") from error
        raise ClusterError(
            f"{self.server} names no OAuth server (answer {answer.status} to {_METADATA}): no user can log in with a "
            "password"
        )
