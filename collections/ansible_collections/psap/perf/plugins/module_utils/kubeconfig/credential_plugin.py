"""The credential plugin of a kubeconfig's user (``exec``), which kubeconfigs of cloud providers use."""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.clock import parse_utc
from ansible_collections.psap.perf.plugins.module_utils.base.credentials import HIDDEN, hide
from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError, WaitTimeoutError
from ansible_collections.psap.perf.plugins.module_utils.base.program import Output, Program, capture
from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.kubeconfigs import KubeconfigContext

_LIMIT_S = 30.0
_EXTENSION = "client.authentication.k8s.io/exec"
_ADVICE = "run it by hand to see why, or renew the kubeconfig"
# a token that expires sooner is renewed
_RENEWED_BEFORE = timedelta(minutes=2)
_LONGEST_REASON = 200


@dataclass(frozen=True, slots=True)
class PluginCredentials:
    """What a plugin returned: a token, or a client certificate with its key."""

    token: str | None = field(default=None, repr=False)
    client_certificate: bytes | None = None
    client_key: bytes | None = field(default=None, repr=False)
    expires: datetime | None = None

    @property
    def ends_soon(self) -> bool:
        """Whether the plugin has to run again."""
        return self.expires is not None and datetime.now(UTC) > self.expires - _RENEWED_BEFORE


class CredentialPlugin:
    """The plugin of one user; it runs again when its credentials expire."""

    def __init__(self, chosen: KubeconfigContext, check: Callable[[], None]) -> None:
        """Read the plugin's description.

        Args:
            check: Called while the plugin runs; raises if the user interrupts the run.

        Raises:
            ClusterError: If the description is incomplete.
        """
        plugin = chosen.user["exec"]
        try:
            self._name, self._api_version = str(plugin["command"]), str(plugin["apiVersion"])
            self._arguments = [str(word) for word in plugin.get("args") or []]
            self._variables = {str(pair["name"]): str(pair["value"]) for pair in plugin.get("env") or []}
        except (LookupError, TypeError, AttributeError) as error:
            raise ClusterError(
                f"the kubeconfig {chosen.origin} describes its credential plugin (exec) incompletely: "
                "give command, apiVersion, a list args, and an env of name and value"
            ) from error
        self._plugin: Mapping[str, Any] = plugin
        self._chosen = chosen
        self._check = check
        self._credentials: PluginCredentials | None = None

    def credentials(self) -> PluginCredentials:
        """Return the plugin's last credentials, or new ones if those expire soon.

        Raises:
            ClusterError: If the plugin cannot be run, fails, hangs, or returns no credentials.
        """
        if self._credentials is None or self._credentials.ends_soon:
            self._credentials = self._run()
        return self._credentials

    def _run(self) -> PluginCredentials:
        folder = self._chosen.user["folder"]
        program = Program((self._command(folder), *self._arguments), folder, self._environment())
        try:
            ended = capture(program, _LIMIT_S, self._check)
        except OSError as error:
            hint = str(self._plugin.get("installHint") or "").strip().partition("\n")[0]
            raise self._failure(
                f"cannot be run: {error.strerror}", hint or "install it, or correct its path in the kubeconfig"
            ) from None
        except WaitTimeoutError as error:
            raise self._failure(str(error), _ADVICE) from None
        if ended.exit_code:
            how = f"exit code {ended.exit_code}" if ended.exit_code > 0 else f"signal {-ended.exit_code}"
            raise self._failure(f"ended with {how}{_reason(ended, self._arguments)}", _ADVICE)
        return self._parsed(ended.output)

    def _command(self, folder: Path) -> str:
        """Return the plugin's path: relative paths are relative to the kubeconfig, a name alone is found in PATH."""
        return str(folder / self._name) if os.sep in self._name else self._name

    def _environment(self) -> dict[str, str]:
        spec: dict[str, Any] = {"interactive": False}
        if self._plugin.get("provideClusterInfo"):
            spec["cluster"] = _cluster_info(self._chosen.cluster)
        request = {"apiVersion": self._api_version, "kind": "ExecCredential", "spec": spec}
        return {**self._variables, "KUBERNETES_EXEC_INFO": json.dumps(request)}

    def _parsed(self, output: bytes) -> PluginCredentials:
        try:
            document = json.loads(output)
            status, version = document["status"], document.get("apiVersion")
            token, expires = status.get("token"), status.get("expirationTimestamp")
            certificate, key = status.get("clientCertificateData"), status.get("clientKeyData")
            end = parse_utc(expires).astimezone(UTC) if expires else None
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
            # not the output itself: it may contain a token
            raise self._failure("printed no ExecCredential", _ADVICE) from None
        if version != self._api_version:
            why = f"printed an ExecCredential of {version} instead of {self._api_version}"
            raise self._failure(why, "correct its apiVersion in the kubeconfig")
        if not token and not (certificate and key):
            raise self._failure("returned no token and no client certificate", _ADVICE)
        return PluginCredentials(
            str(token) if token else None,
            str(certificate).encode() if certificate else None,
            str(key).encode() if key else None,
            end,
        )

    def _failure(self, why: str, advice: str) -> ClusterError:
        # without its arguments, which may contain a client's secret
        return ClusterError(
            f"the credential plugin {self._name} of the kubeconfig {self._chosen.origin} {why}; {advice}"
        )


def _reason(ended: Output, arguments: list[str]) -> str:
    """Return the last line of the error output, without the plugin's arguments and other credentials."""
    lines = [line.strip() for line in ended.errors.splitlines() if line.strip()]
    if not lines:
        return ""
    text = lines[-1]
    for word in sorted((word.rpartition("=")[2] for word in arguments), key=len, reverse=True):
        text = text.replace(word, HIDDEN) if len(word) > 3 else text
    return f" ({hide(text)[:_LONGEST_REASON]})"


def _cluster_info(cluster: Mapping[str, Any]) -> dict[str, Any]:
    """Return the cluster for the plugin: authorities inline, and the plugin's extension as its configuration."""
    names = ("server", "tls-server-name", "insecure-skip-tls-verify", "certificate-authority-data", "proxy-url")
    info = {name: cluster[name] for name in names if cluster.get(name)}
    authority = cluster.get("certificate-authority")
    if authority and "certificate-authority-data" not in info:
        path = cluster["folder"] / Path(authority).expanduser()
        try:
            info["certificate-authority-data"] = base64.b64encode(path.read_bytes()).decode()
        except OSError as error:
            raise ClusterError(
                f"the kubeconfig's certificate-authority {path} cannot be read: {error.strerror}"
            ) from error
    for extension in cluster.get("extensions") or []:
        if extension.get("name") == _EXTENSION:
            info["config"] = extension.get("extension")
    return info
