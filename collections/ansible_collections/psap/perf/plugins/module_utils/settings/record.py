"""The document ``settings.yml``: every value of a run with its origin."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.credentials import hide

SCHEMA = "psap.perf/settings/1"
# the connection to hosts and clusters, without passwords, which no run records
_CONNECTION = frozenset(
    {
        *(f"ansible_{name}" for name in ("connection", "host", "port", "user", "pipelining", "python_interpreter")),
        *(f"ansible_{name}" for name in ("private_key_file", "remote_tmp", "shell_type", "timeout")),
        *(f"ansible_become{name}" for name in ("", "_exe", "_flags", "_method", "_user")),
        *(f"ansible_ssh_{name}" for name in ("host", "port", "user", "private_key_file", "executable")),
        *(f"ansible_ssh_{name}" for name in ("args", "common_args", "extra_args")),
        *(f"ansible_winrm_{name}" for name in ("scheme", "transport", "server_cert_validation")),
        *(f"perf_{name}" for name in ("kubeconfig", "kube_context", "kube_patience", "kube_proxy")),
    }
)


@dataclass(frozen=True, slots=True)
class RecordedValue:
    """A value in force; for a secret, its reference."""

    value: Any
    origin: str
    secret: bool = False
    compare: str | None = None

    def as_entry(self) -> dict[str, Any]:
        """Return the entry in the document."""
        entry = {"value": self.value, "origin": self.origin}
        if self.compare is not None:
            entry["compare"] = self.compare
        return {**entry, "secret": True} if self.secret else entry


def connection(extra: Mapping[str, Any]) -> dict[str, Any]:
    """Return the extra vars for the connection to hosts and clusters, except those that contain a credential."""
    return {
        name: value for name, value in sorted(extra.items()) if name in _CONNECTION and hide(str(value)) == str(value)
    }


def settings_document(
    everyone: Mapping[str, RecordedValue],
    hosts: Mapping[str, Mapping[str, RecordedValue]],
    connected: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return the document of the values of all hosts, those that differ on some hosts, and `connection`."""
    different = {
        host: {
            name: one.as_entry()
            for name, one in sorted(values.items())
            if name not in everyone or everyone[name].value != one.value
        }
        for host, values in sorted(hosts.items())
    }
    return {
        "schema": SCHEMA,
        "all": {name: one.as_entry() for name, one in sorted(everyone.items())},
        "hosts": {host: entries for host, entries in different.items() if entries},
        **({"connection": dict(connected)} if connected else {}),
    }
