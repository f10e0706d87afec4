"""How to reach a cluster: from a host's variables, the environment, a kubeconfig, a token as AWX gives it."""

from __future__ import annotations

import contextlib
import os
import ssl
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import kubernetes
import kubernetes.client
import kubernetes.config
import urllib3
import urllib3.util.ssl_
import yaml
from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError, UsageError, short
from ansible_collections.psap.perf.plugins.module_utils.cluster.kubeconfigs import checked_server, kubeconfig_files
from cryptography.x509 import load_pem_x509_certificate

_DEFAULT = "~/.kube/config"


@dataclass(frozen=True, slots=True)
class Access:
    """How to reach a cluster; each None falls back as kubectl's would."""

    kubeconfig: str | None = None
    context: str | None = None
    proxy: str | None = None

    @classmethod
    def from_variables(cls, variables: Mapping[str, Any]) -> Access:
        """From a host's ``perf_kubeconfig``, ``perf_kube_context`` and ``perf_kube_proxy``, else the environment.

        :raises UsageError: when a kubeconfig and ``K8S_AUTH_HOST`` name a cluster each: kubernetes.core's modules would
            take the second whatever they are told.
        """
        environment = os.environ
        host = environment.get("K8S_AUTH_HOST")
        kubeconfig = _text(variables.get("perf_kubeconfig")) or environment.get("K8S_AUTH_KUBECONFIG")
        if kubeconfig and host:
            raise UsageError(
                f"the kubeconfig {kubeconfig} and K8S_AUTH_HOST ({host}) name a cluster each: unset one of them"
            )
        return cls(
            kubeconfig=kubeconfig or (None if host else environment.get("KUBECONFIG")) or None,
            context=_text(variables.get("perf_kube_context")) or environment.get("K8S_AUTH_CONTEXT"),
            proxy=_text(variables.get("perf_kube_proxy")) or environment.get("K8S_AUTH_PROXY"),
        )

    def module_options(self) -> dict[str, str]:
        """The same as options of kubernetes.core's modules; what they find out as we do is left to them."""
        options = {"kubeconfig": self.kubeconfig, "context": self.context, "proxy": self.proxy}
        return {name: value for name, value in options.items() if value}

    def variables(self) -> dict[str, str]:
        """The variables that name the same cluster whatever the environment and the current context will be; empty
        where no kubeconfig says which it is.

        :raises ClusterError: when there is none, or it cannot be read.
        """
        if self.kubeconfig is None and (os.environ.get("K8S_AUTH_HOST") or os.environ.get("KUBERNETES_SERVICE_HOST")):
            return {}
        kubeconfig = os.pathsep.join(str(path.absolute()) for path in kubeconfig_files(self.kubeconfig or _DEFAULT))
        if self.context is not None:
            return {"perf_kubeconfig": kubeconfig, "perf_kube_context": self.context}
        try:
            _contexts, current = kubernetes.config.list_kube_config_contexts(kubeconfig)
            return {"perf_kubeconfig": kubeconfig, "perf_kube_context": str(current["name"])}
        except (kubernetes.config.ConfigException, yaml.YAMLError, OSError, TypeError, AttributeError) as error:
            raise ClusterError(f"the kubeconfig {kubeconfig} cannot be read as one: {short(error)}") from error


@contextlib.contextmanager
def configured(access: Access) -> Iterator[Any]:
    """The kubernetes client's configuration for *access*, with its certificates in files for as long as this lasts.

    The client would write a kubeconfig's inline key into files that only an orderly exit removes, and Ansible's worker
    processes never make one.

    :raises ClusterError: when none can be found or read.
    """
    try:
        folder = tempfile.TemporaryDirectory(prefix="psap-perf-")
    except OSError as error:
        raise ClusterError(f"the kubeconfig's certificates need a place for a moment: {error}; set TMPDIR") from error
    with folder as name:
        yield _load_configuration(access, name)


def connect(access: Access) -> Any:
    """The kubernetes client for *access*. It holds the certificates in memory: nothing of them is left on disk.

    :raises ClusterError: when there is no configuration, or its certificates cannot be used.
    """
    with configured(access) as configuration:
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


def expiry_advice(access: Access) -> str:
    """When the client certificate of *access* expired, and what to do; empty where there is none, or it is good."""
    with configured(access) as configuration:
        if not configuration.cert_file:
            return ""
        certificate = load_pem_x509_certificate(Path(configuration.cert_file).read_bytes())
    expired = certificate.not_valid_after_utc
    if expired > datetime.now(UTC):
        return ""
    return f"the client certificate expired on {expired:%Y-%m-%d at %H:%M UTC}; renew the kubeconfig"


def _ssl_context(configuration: Any) -> ssl.SSLContext:
    """What urllib3 would make of *configuration* at the first request, when the files are gone."""
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


def _load_configuration(access: Access, folder: str) -> Any:
    """A kubeconfig, a bearer token as AWX gives, or the pod's own; what is inline becomes files in *folder*."""
    configuration = kubernetes.client.Configuration()
    host = os.environ.get("K8S_AUTH_HOST")
    try:
        if access.kubeconfig is None and host:
            configuration.host = host
            configuration.api_key = {"authorization": f"Bearer {os.environ.get('K8S_AUTH_API_KEY', '')}"}
            configuration.verify_ssl = os.environ.get("K8S_AUTH_VERIFY_SSL", "true").lower() not in (
                "false",
                "no",
                "0",
            )
            configuration.ssl_ca_cert = os.environ.get("K8S_AUTH_SSL_CA_CERT")
        elif access.kubeconfig is None and access.context is None and os.environ.get("KUBERNETES_SERVICE_HOST"):
            kubernetes.config.load_incluster_config(client_configuration=configuration)
        else:
            paths = kubeconfig_files(access.kubeconfig) if access.kubeconfig else []
            _load_kubeconfig(configuration, paths, access.context, folder)
    except (kubernetes.config.ConfigException, yaml.YAMLError) as error:
        raise ClusterError(
            f"no usable kubeconfig ({access.kubeconfig or 'the default one'}): {short(error)}; "
            "set KUBECONFIG, or perf_kubeconfig for the host"
        ) from error
    configuration.host = checked_server(str(configuration.host))
    if access.proxy:
        configuration.proxy = access.proxy
    # A server that does not answer is tried twice: whoever waits for it decides how long. One that says when to come
    # again (429 and 503 with Retry-After, as after a CRD was installed) is believed for a while.
    configuration.retries = urllib3.Retry(total=10, connect=1, read=1, status=8)
    return configuration


def _load_kubeconfig(configuration: Any, paths: list[Path], context: str | None, folder: str) -> None:
    try:
        kubernetes.config.load_kube_config(
            config_file=os.pathsep.join(map(str, paths)) or None,
            context=context,
            client_configuration=configuration,
            temp_file_path=folder,
        )
    except (OSError, TypeError, AttributeError, ValueError) as error:
        # the client looks into whatever the file holds as if it were a kubeconfig
        raise kubernetes.config.ConfigException(f"it cannot be read as one: {error}") from error


def _text(value: object) -> str | None:
    return str(value) if value else None
