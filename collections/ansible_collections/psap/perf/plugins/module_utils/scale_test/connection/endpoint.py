"""Where the API server is and how we prove who we are: from a kubeconfig, or from inside the cluster."""

from __future__ import annotations

import base64
import json
import os
import ssl
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import yaml
from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError
from ansible_collections.psap.perf.plugins.module_utils.cluster.kubeconfigs import checked_server, kubeconfig_files

_SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
_EXEC_TIMEOUT_S = 60


@dataclass(frozen=True, slots=True)
class ApiEndpoint:
    """An API server and the credentials for it."""

    server: str
    certificate_authority: bytes | None = None
    insecure: bool = False
    server_name: str | None = None
    client_certificate: bytes | None = None
    client_key: bytes | None = field(default=None, repr=False)
    token: str | None = field(default=None, repr=False)
    token_file: Path | None = None
    proxy: str | None = None

    def headers(self) -> dict[str, str]:
        """The headers that authenticate a request; a token file is read anew: it is renewed under us."""
        token = self.token_file.read_text(encoding="utf-8").strip() if self.token_file else self.token
        return {"Authorization": f"Bearer {token}"} if token else {}

    def ssl_context(self) -> ssl.SSLContext | None:
        """How to verify the server and present ourselves; None for plain HTTP.

        :raises ClusterError: when the certificates cannot be used.
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


def load_endpoint(kubeconfig: str | None = None, context: str | None = None, proxy: str | None = None) -> ApiEndpoint:
    """The endpoint of *context* (default: the current one) in *kubeconfig* (default: the address and token that AWX
    gives, then what kubectl would read, then the service account of the pod we run in). *proxy* wins over the
    kubeconfig's ``proxy-url``.

    :raises ClusterError: when there is no cluster to be found there.
    """
    if kubeconfig is None and (host := os.environ.get("K8S_AUTH_HOST")):
        return _of_environment(host, proxy)
    paths = _kubeconfig_paths(kubeconfig)
    if not paths:
        return _in_cluster()
    configuration = _merged(paths)
    origin = os.pathsep.join(str(path) for path in paths)
    chosen = context or str(configuration.get("current-context") or "")
    entry = _named(configuration, "contexts", chosen, "context", origin)
    cluster = _named(configuration, "clusters", str(entry.get("cluster")), "cluster", origin)
    user = _named(configuration, "users", str(entry["user"]), "user", origin) if entry.get("user") else {}
    endpoint = _with_cluster(cluster, origin)
    if proxy:
        endpoint = replace(endpoint, proxy=proxy)
    return _with_user(endpoint, user)


def _kubeconfig_paths(kubeconfig: str | None) -> list[Path]:
    named = kubeconfig or os.environ.get("KUBECONFIG")
    default = Path.home() / ".kube" / "config"
    return kubeconfig_files(named) if named else [default] if default.is_file() else []


def _of_environment(host: str, proxy: str | None) -> ApiEndpoint:
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
        proxy=proxy,
    )


def _in_cluster() -> ApiEndpoint:
    host, port = os.environ.get("KUBERNETES_SERVICE_HOST"), os.environ.get("KUBERNETES_SERVICE_PORT")
    token = _SERVICE_ACCOUNT / "token"
    if not host or not port or not token.is_file():
        raise ClusterError("no cluster is configured: set perf_kubeconfig or KUBECONFIG to a kubeconfig")
    address = f"[{host}]" if ":" in host else host
    authority = (_SERVICE_ACCOUNT / "ca.crt").read_bytes()
    return ApiEndpoint(server=f"https://{address}:{port}", certificate_authority=authority, token_file=token)


def _merged(paths: list[Path]) -> dict[str, Any]:
    """Several kubeconfigs as one, the first that names an entry wins; relative paths become absolute."""
    merged: dict[str, Any] = {"clusters": [], "contexts": [], "users": []}
    for path in paths:
        try:
            document = yaml.safe_load(path.read_text(encoding="utf-8")) or {}
        except OSError as error:
            raise ClusterError(f"the kubeconfig {path} cannot be read: {error.strerror}") from error
        except (ValueError, yaml.YAMLError) as error:
            # not the error itself: it shows the line, which may hold a token
            mark = getattr(error, "problem_mark", None)
            line = f" (line {mark.line + 1})" if mark else ""
            raise ClusterError(f"the kubeconfig {path} is no YAML{line}") from None
        if not isinstance(document, dict):
            raise ClusterError(f"the kubeconfig {path} is no mapping")
        merged.setdefault("current-context", document.get("current-context"))
        for kind in ("clusters", "contexts", "users"):
            for entry in document.get(kind) or []:
                merged[kind].append({**entry, "folder": path.resolve().parent})
    return merged


def _named(configuration: Mapping[str, Any], kind: str, name: str, singular: str, origin: str) -> dict[str, Any]:
    for entry in configuration[kind]:
        if entry.get("name") == name:
            return {**(entry.get(singular) or {}), "folder": entry["folder"]}
    known = ", ".join(sorted(str(entry.get("name")) for entry in configuration[kind])) or "none"
    raise ClusterError(f"the kubeconfig {origin} has no {singular} {name!r}; it has: {known}")


def _with_cluster(cluster: Mapping[str, Any], origin: str) -> ApiEndpoint:
    if not cluster.get("server"):
        raise ClusterError(f"the kubeconfig {origin} names no server for its cluster")
    return ApiEndpoint(
        server=checked_server(str(cluster["server"]).rstrip("/")),
        certificate_authority=_content(cluster, "certificate-authority"),
        insecure=bool(cluster.get("insecure-skip-tls-verify", False)),
        server_name=cluster.get("tls-server-name"),
        proxy=cluster.get("proxy-url"),
    )


def _with_user(endpoint: ApiEndpoint, user: Mapping[str, Any]) -> ApiEndpoint:
    if user.get("exec"):
        return _with_plugin(endpoint, user["exec"])
    token_file = user.get("tokenFile")
    return replace(
        endpoint,
        client_certificate=_content(user, "client-certificate"),
        client_key=_content(user, "client-key"),
        token=user.get("token"),
        token_file=user["folder"] / token_file if token_file else None,
    )


def _with_plugin(endpoint: ApiEndpoint, plugin: Mapping[str, Any]) -> ApiEndpoint:
    """Ask a credential plugin, as cloud providers' kubeconfigs have it, for a token or a certificate."""
    command = [str(plugin["command"]), *map(str, plugin.get("args") or [])]
    environment = {**os.environ, **{pair["name"]: str(pair["value"]) for pair in plugin.get("env") or []}}
    request = {"apiVersion": plugin["apiVersion"], "kind": "ExecCredential", "spec": {"interactive": False}}
    environment["KUBERNETES_EXEC_INFO"] = json.dumps(request)
    try:
        done = subprocess.run(  # noqa: S603 - the kubeconfig is the user's own and names the program
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=True,
            timeout=_EXEC_TIMEOUT_S,
        )
        status = json.loads(done.stdout)["status"]
    except (OSError, subprocess.SubprocessError, ValueError, KeyError, TypeError) as error:
        # not the error itself: it tells the plugin's arguments, which may hold a client's secret
        raise ClusterError(f"the kubeconfig's credential plugin {command[0]} {_failed(error)}") from None
    certificate, key = status.get("clientCertificateData"), status.get("clientKeyData")
    return replace(
        endpoint,
        token=status.get("token"),
        client_certificate=certificate.encode() if certificate else None,
        client_key=key.encode() if key else None,
    )


def _failed(error: Exception) -> str:
    if isinstance(error, subprocess.CalledProcessError):
        return f"ended with exit code {error.returncode}"
    if isinstance(error, subprocess.TimeoutExpired):
        return f"did not end within {error.timeout:g} s"
    if isinstance(error, OSError):
        return f"cannot be run: {error.strerror}"
    return "gave no ExecCredential"


def _content(entry: Mapping[str, Any], key: str) -> bytes | None:
    """What ``<key>-data`` holds, or the file that ``<key>`` names."""
    if entry.get(f"{key}-data"):
        return base64.b64decode(entry[f"{key}-data"])
    if not entry.get(key):
        return None
    path = entry["folder"] / Path(entry[key]).expanduser()
    try:
        return bytes(path.read_bytes())
    except OSError as error:
        raise ClusterError(f"the kubeconfig's {key} {path} cannot be read: {error.strerror}") from error


def _load_client_certificate(context: ssl.SSLContext, certificate: bytes, key: bytes) -> None:
    """The ssl module reads certificates from files; these live in memory, so a kill leaves no key behind."""
    certificate_file, key_file = os.memfd_create("certificate"), os.memfd_create("key")
    try:
        os.write(certificate_file, certificate)
        os.write(key_file, key)
        context.load_cert_chain(f"/proc/self/fd/{certificate_file}", f"/proc/self/fd/{key_file}")
    finally:
        os.close(certificate_file)
        os.close(key_file)
