"""Select a cluster by a host's variables and the environment, and create the kubernetes client for it."""

from __future__ import annotations

import contextlib
import os
import ssl
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit, urlunsplit

import kubernetes
import kubernetes.client
import urllib3
import urllib3.util.ssl_
from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError, UsageError
from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.endpoint import (
    ApiEndpoint,
    chosen_context,
    load_endpoint,
    without_credentials,
)
from cryptography.x509 import load_pem_x509_certificate


@dataclass(frozen=True, slots=True)
class Access:
    """How to reach a cluster; None selects the default, like kubectl."""

    kubeconfig: str | None = None
    context: str | None = None
    proxy: str | None = None

    @classmethod
    def from_variables(cls, variables: Mapping[str, Any]) -> Access:
        """Read ``perf_kubeconfig``, ``perf_kube_context`` and ``perf_kube_proxy`` of a host, else the environment.

        Raises:
            UsageError: If both a kubeconfig and ``K8S_AUTH_HOST`` name a cluster: kubernetes.core's modules would
                always use the second.
        """
        environment = os.environ
        host = environment.get("K8S_AUTH_HOST")
        kubeconfig = _text(variables.get("perf_kubeconfig")) or environment.get("K8S_AUTH_KUBECONFIG")
        if kubeconfig and host:
            raise UsageError(
                f"the kubeconfig {kubeconfig} and K8S_AUTH_HOST ({host}) both name a cluster: unset one of them"
            )
        return cls(
            kubeconfig=kubeconfig or (None if host else environment.get("KUBECONFIG")) or None,
            context=_text(variables.get("perf_kube_context")) or environment.get("K8S_AUTH_CONTEXT"),
            proxy=_text(variables.get("perf_kube_proxy")) or environment.get("K8S_AUTH_PROXY"),
        )

    def module_options(self) -> dict[str, Any]:
        """Return the same cluster as options of kubernetes.core's modules, which override the environment.

        Raises:
            ClusterError: If the kubeconfig cannot be read.
        """
        chosen = chosen_context(self.kubeconfig, self.context)
        reached = without_credentials(chosen, self.proxy)
        url, login = split_login(reached.proxy or "")
        # the modules ignore proxy-url, use HTTP_PROXY for https, and NO_PROXY would override the option proxy
        options: dict[str, Any] = {"proxy": url, "no_proxy": ""}
        if login:
            options["proxy_headers"] = {"proxy_basic_auth": login}
        if chosen is not None:
            options |= {"kubeconfig": chosen.origin, "context": chosen.name}
        return options

    def variables(self) -> dict[str, str]:
        """Return variables that name the same cluster in any environment and current context; empty without kubeconfig.

        Raises:
            ClusterError: If the kubeconfig cannot be read.
        """
        chosen = chosen_context(self.kubeconfig, self.context)
        if chosen is None:
            return {}
        kubeconfig = os.pathsep.join(str(Path(path).absolute()) for path in chosen.origin.split(os.pathsep))
        named = {"perf_kubeconfig": kubeconfig, "perf_kube_context": chosen.name}
        # the proxy's login is never written
        return {**named, "perf_kube_proxy": self.proxy} if self.proxy and not split_login(self.proxy)[1] else named

    def endpoint(self, check: Callable[[], None] = lambda: None) -> ApiEndpoint:
        """Return the API server and the credentials for it.

        Args:
            check: Called while a credential plugin runs; raises if the user interrupts the run.

        Raises:
            ClusterError: If no cluster is configured, or its credentials cannot be read.
        """
        return load_endpoint(self.kubeconfig, self.context, self.proxy, check)


@contextlib.contextmanager
def configured(access: Access, check: Callable[[], None] = lambda: None) -> Iterator[Any]:
    """Yield the kubernetes client's configuration for *access*, with certificates in files until the block ends.

    The client's own reader of kubeconfigs ignores ``proxy-url``, waits indefinitely for a credential plugin, logs in
    anonymously if that fails, and leaves keys in files.

    Raises:
        ClusterError: If no cluster is configured, or its credentials cannot be read.
    """
    with _configured(access.endpoint(check)) as configuration:
        yield configuration


@contextlib.contextmanager
def _configured(endpoint: ApiEndpoint) -> Iterator[Any]:
    try:
        folder = tempfile.TemporaryDirectory(prefix="psap-perf-")
    except OSError as error:
        raise ClusterError(f"cannot store the kubeconfig's certificates temporarily: {error}; set TMPDIR") from error
    with folder as name:
        yield _configuration(endpoint, Path(name))


def connect(endpoint: ApiEndpoint) -> Any:
    """Return the kubernetes client for *endpoint*, with the certificates only in memory.

    Raises:
        ClusterError: If the certificates cannot be used.
    """
    with _configured(endpoint) as configuration:
        api = kubernetes.client.ApiClient(configuration)
        pool = api.rest_client.pool_manager.connection_pool_kw
        try:
            pool["ssl_context"] = _ssl_context(configuration)
        except (ssl.SSLError, OSError) as error:
            raise ClusterError(
                f"the certificates for {configuration.host} cannot be used: {error}; renew the kubeconfig"
            ) from error
        for name in ("ca_certs", "cert_file", "key_file"):
            pool.pop(name, None)
    return api


def expiry_advice(endpoint: ApiEndpoint) -> str:
    """Return when the client certificate of *endpoint* expired, with advice; empty if it is valid or missing."""
    if not endpoint.client_certificate:
        return ""
    expired = load_pem_x509_certificate(endpoint.client_certificate).not_valid_after_utc
    if expired > datetime.now(UTC):
        return ""
    return f"the client certificate expired on {expired:%Y-%m-%d at %H:%M UTC}; renew the kubeconfig"


def http_pool(proxy: str | None, **options: Any) -> urllib3.PoolManager:
    """Return a pool of connections, through *proxy* if set; its URL may contain a login."""
    url, login = split_login(proxy or "")
    if not url:
        return urllib3.PoolManager(**options)
    headers = urllib3.make_headers(proxy_basic_auth=login) if login else None
    return urllib3.ProxyManager(url, proxy_headers=headers, **options)


def _ssl_context(configuration: Any) -> ssl.SSLContext:
    """Return the context that urllib3 would create at the first request, when the files no longer exist."""
    context = urllib3.util.ssl_.create_urllib3_context(
        cert_reqs=ssl.CERT_REQUIRED if configuration.verify_ssl else ssl.CERT_NONE
    )
    if configuration.ssl_ca_cert:
        context.load_verify_locations(configuration.ssl_ca_cert)
    else:
        context.load_default_certs()
    if configuration.cert_file:
        context.load_cert_chain(configuration.cert_file, configuration.key_file)
    return context


def _configuration(endpoint: ApiEndpoint, folder: Path) -> Any:
    """Return the client's configuration, with certificates as files in *folder*."""
    configuration = kubernetes.client.Configuration()
    configuration.host = endpoint.server
    configuration.verify_ssl = not endpoint.insecure
    configuration.tls_server_name = endpoint.server_name
    configuration.ssl_ca_cert = _file(folder / "authority", endpoint.certificate_authority)
    if endpoint.client_certificate and endpoint.client_key:
        configuration.cert_file = _file(folder / "certificate", endpoint.client_certificate)
        configuration.key_file = _file(folder / "key", endpoint.client_key)
    # the endpoint's proxy already takes the environment into account
    configuration.proxy, configuration.no_proxy = None, None
    if endpoint.proxy:
        configuration.proxy, login = split_login(endpoint.proxy)
        configuration.proxy_headers = urllib3.make_headers(proxy_basic_auth=login) if login else None

    def authorize(configuration: Any) -> None:
        # before each request: a token may be renewed meanwhile
        configuration.api_key = {"authorization": endpoint.headers().get("Authorization")}

    if endpoint.current_token():
        authorize(configuration)
        configuration.refresh_api_key_hook = authorize
    # Without a response, a request is tried twice: the caller decides how long to repeat it. After a response with
    # Retry-After (429 and 503, such as after the installation of a CRD), it is repeated for a while.
    configuration.retries = urllib3.Retry(total=10, connect=1, read=1, status=8)
    return configuration


def _file(path: Path, content: bytes | None) -> str | None:
    if content is None:
        return None
    path.write_bytes(content)
    return str(path)


def split_login(proxy: str) -> tuple[str, str]:
    """Return the URL of a proxy without its login, and the login, ``user:password``."""
    parts = urlsplit(proxy)
    login, _at, address = parts.netloc.rpartition("@")
    return urlunsplit(parts._replace(netloc=address)), unquote(login)


def _text(value: object) -> str | None:
    return str(value) if value else None
