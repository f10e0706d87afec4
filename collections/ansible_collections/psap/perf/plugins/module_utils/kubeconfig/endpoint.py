"""The API server's address and the credentials for it, for verbs, modules and submitters."""

from __future__ import annotations

import base64
import os
import ssl
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError
from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.credential_plugin import CredentialPlugin
from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.kubeconfigs import (
    KubeconfigContext,
    checked_server,
    default_files,
    kubeconfig_files,
    read_context,
)

_SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
_PROXY_SCHEMES = ("http", "https")


@dataclass(frozen=True, slots=True)
class ApiEndpoint:
    """An API server and the credentials for it.

    Attributes:
        proxy: URL of the proxy, from a kubeconfig or the environment; None without a proxy.
        plugin: Renews the token when it expires.
    """

    server: str
    certificate_authority: bytes | None = None
    insecure: bool = False
    server_name: str | None = None
    client_certificate: bytes | None = None
    client_key: bytes | None = field(default=None, repr=False)
    token: str | None = field(default=None, repr=False)
    token_file: Path | None = None
    proxy: str | None = None
    plugin: CredentialPlugin | None = field(default=None, repr=False, compare=False)

    def headers(self) -> dict[str, str]:
        """Return the headers that authenticate a request, with the current token.

        Raises:
            ClusterError: If the token cannot be read.
        """
        token = self.current_token()
        return {"Authorization": f"Bearer {token}"} if token else {}

    def current_token(self) -> str | None:
        """Return the current token.

        Raises:
            ClusterError: If it cannot be read.
        """
        if self.plugin is not None:
            return self.plugin.credentials().token
        if self.token_file is None:
            return self.token
        try:
            return self.token_file.read_text(encoding="utf-8").strip()
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or "it is not text"
            raise ClusterError(f"the token file {self.token_file} cannot be read: {reason}") from error

    def ssl_context(self) -> ssl.SSLContext | None:
        """Return the context that verifies the server and has the client certificate; None for plain HTTP.

        Raises:
            ClusterError: If the certificates cannot be used.
        """
        if not self.server.startswith("https:"):
            return None
        try:
            authority = self.certificate_authority.decode() if self.certificate_authority else None
            context = ssl.create_default_context(cadata=authority)
            if self.insecure:
                context.check_hostname = False
                context.verify_mode = ssl.CERT_NONE
            if self.client_certificate and self.client_key:
                _load_client_certificate(context, self.client_certificate, self.client_key)
        except (ssl.SSLError, ValueError) as error:
            raise ClusterError(
                f"the certificates for {self.server} cannot be used: {error}; renew the kubeconfig"
            ) from error
        return context


def load_endpoint(
    kubeconfig: str | None = None,
    context: str | None = None,
    proxy: str | None = None,
    check: Callable[[], None] = lambda: None,
) -> ApiEndpoint:
    """Return the endpoint of a context.

    Args:
        kubeconfig: By default the address and token that AWX passes, then kubectl's default files, then the service
            account of this pod.
        context: By default the current one.
        proxy: Overrides the kubeconfig's ``proxy-url``, which overrides ``HTTPS_PROXY`` and similar variables.
        check: Called while a credential plugin runs; raises if the user interrupts the run.

    Raises:
        ClusterError: If no cluster is configured, or its credentials cannot be read.
    """
    chosen = chosen_context(kubeconfig, context)
    if chosen is None:
        return without_credentials(None, proxy)
    return _with_user(without_credentials(chosen, proxy), chosen, check)


def chosen_context(kubeconfig: str | None, context: str | None) -> KubeconfigContext | None:
    """Return the kubeconfig's entries for *context*; None if the environment or the pod defines the cluster.

    Raises:
        ClusterError: If they cannot be read.
    """
    if kubeconfig is None and os.environ.get("K8S_AUTH_HOST"):
        return None
    paths = kubeconfig_files(kubeconfig) if kubeconfig else default_files()
    if paths:
        return read_context(paths, context)
    if context:
        raise ClusterError(f"no kubeconfig has the context {context!r}: set KUBECONFIG, or perf_kubeconfig")
    return None


def without_credentials(chosen: KubeconfigContext | None, proxy: str | None) -> ApiEndpoint:
    """Return the API server and the proxy to it, without running a credential plugin.

    Raises:
        ClusterError: If no cluster is configured, or the proxy's scheme is not supported.
    """
    if chosen is not None:
        endpoint = _of_kubeconfig(chosen)
    elif host := os.environ.get("K8S_AUTH_HOST"):
        endpoint = _of_environment(host)
    else:
        endpoint = _in_cluster()
    return replace(endpoint, proxy=_checked_proxy(proxy or endpoint.proxy) or environment_proxy(endpoint.server))


def environment_proxy(server: str) -> str | None:
    """Return the proxy to *server* by ``HTTPS_PROXY``, ``HTTP_PROXY`` and ``NO_PROXY``, like kubectl."""
    parts = urlsplit(server)
    return None if urllib.request.proxy_bypass(parts.netloc) else urllib.request.getproxies().get(parts.scheme)


def _checked_proxy(proxy: str | None) -> str | None:
    if not proxy:
        return None
    parts = urlsplit(proxy)
    if parts.scheme not in _PROXY_SCHEMES or not parts.hostname:
        raise ClusterError(
            f"{parts.scheme or 'no'}:// is not supported for the proxy to the cluster: "
            "set an http:// or https:// URL as the kubeconfig's proxy-url, or as perf_kube_proxy"
        )
    return proxy


def _of_environment(host: str) -> ApiEndpoint:
    authority = os.environ.get("K8S_AUTH_SSL_CA_CERT")
    try:
        certificates = Path(authority).read_bytes() if authority else None
    except OSError as error:
        raise ClusterError(f"K8S_AUTH_SSL_CA_CERT, {authority}, cannot be read: {error.strerror}") from error
    return ApiEndpoint(
        server=checked_server(host.rstrip("/")),
        certificate_authority=certificates,
        insecure=os.environ.get("K8S_AUTH_VERIFY_SSL", "true").lower() in ("false", "no", "0"),
        token=os.environ.get("K8S_AUTH_API_KEY"),
    )


def server_in_pod() -> str | None:
    """Return the URL of the API server whose cluster runs this process in a pod; None outside of pods."""
    host, port = os.environ.get("KUBERNETES_SERVICE_HOST"), os.environ.get("KUBERNETES_SERVICE_PORT")
    if not host or not port:
        return None
    address = f"[{host}]" if ":" in host else host
    return f"https://{address}:{port}"


def _in_cluster() -> ApiEndpoint:
    server, token = server_in_pod(), _SERVICE_ACCOUNT / "token"
    if server is None or not token.is_file():
        raise ClusterError("no cluster is configured: set perf_kubeconfig or KUBECONFIG to a kubeconfig")
    authority = (_SERVICE_ACCOUNT / "ca.crt").read_bytes()
    return ApiEndpoint(server=server, certificate_authority=authority, token_file=token)


def _of_kubeconfig(chosen: KubeconfigContext) -> ApiEndpoint:
    cluster = chosen.cluster
    server = checked_server(str(cluster["server"]).rstrip("/"))
    if urlsplit(server).scheme not in ("http", "https"):
        # like kubectl for an address without a scheme
        server = f"http://{server}"
    return ApiEndpoint(
        server=server,
        certificate_authority=_content(cluster, "certificate-authority"),
        insecure=bool(cluster.get("insecure-skip-tls-verify", False)),
        server_name=cluster.get("tls-server-name"),
        proxy=cluster.get("proxy-url"),
    )


def _with_user(endpoint: ApiEndpoint, chosen: KubeconfigContext, check: Callable[[], None]) -> ApiEndpoint:
    user = chosen.user
    token = user.get("token") or _token_of_provider(chosen)
    if user.get("exec") and not token:
        plugin = CredentialPlugin(chosen, check)
        credentials = plugin.credentials()
        return replace(
            endpoint,
            token=credentials.token,
            client_certificate=credentials.client_certificate,
            client_key=credentials.client_key,
            plugin=plugin,
        )
    if user.get("username"):
        raise ClusterError(
            f"the kubeconfig {chosen.origin} authenticates with a password, which Kubernetes no longer accepts; "
            "use a token, a client certificate or a credential plugin"
        )
    token_file = user.get("tokenFile")
    return replace(
        endpoint,
        client_certificate=_content(user, "client-certificate"),
        client_key=_content(user, "client-key"),
        token=token,
        token_file=user["folder"] / Path(token_file).expanduser() if token_file else None,
    )


def _token_of_provider(chosen: KubeconfigContext) -> str | None:
    """Return the token in the kubeconfig for an ``auth-provider``, the predecessor of credential plugins."""
    provider = chosen.user.get("auth-provider")
    if not provider:
        return None
    config = provider.get("config") or {}
    token: str | None = config.get("id-token") or config.get("access-token")
    if token is None:
        raise ClusterError(
            f"the kubeconfig {chosen.origin} uses the auth-provider {provider.get('name')} and has no token for it; "
            "log in again, or use a credential plugin (exec)"
        )
    return token


def _content(entry: Mapping[str, Any], key: str) -> bytes | None:
    """Return the decoded value of ``<key>-data``, or the content of the file that ``<key>`` names."""
    if entry.get(f"{key}-data"):
        try:
            return base64.b64decode(entry[f"{key}-data"])
        except (ValueError, TypeError):
            # not the error's own text: it may show the key
            raise ClusterError(f"the kubeconfig's {key}-data is not base64; renew the kubeconfig") from None
    if not entry.get(key):
        return None
    path = entry["folder"] / Path(entry[key]).expanduser()
    try:
        return bytes(path.read_bytes())
    except OSError as error:
        raise ClusterError(f"the kubeconfig's {key} {path} cannot be read: {error.strerror}") from error


def _load_client_certificate(context: ssl.SSLContext, certificate: bytes, key: bytes) -> None:
    """Load the certificate from files in memory, which a kill does not leave behind: the ssl module requires files."""
    certificate_file, key_file = os.memfd_create("certificate"), os.memfd_create("key")
    try:
        os.write(certificate_file, certificate)
        os.write(key_file, key)
        context.load_cert_chain(f"/proc/self/fd/{certificate_file}", f"/proc/self/fd/{key_file}")
    finally:
        os.close(certificate_file)
        os.close(key_file)
