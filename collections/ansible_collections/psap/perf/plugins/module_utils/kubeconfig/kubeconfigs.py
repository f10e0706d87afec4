"""Read the files of a kubeconfig, merge them like kubectl, and find the entries of a context."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import yaml
from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError
from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.lab import advice_on_missing_lab

_LISTS = ("clusters", "contexts", "users")
_ADVICE = "set KUBECONFIG, or perf_kubeconfig for the host"
_KINDS = {list: "a list", str: "a text", int: "a number", float: "a number", bool: "a boolean", type(None): "nothing"}


@dataclass(frozen=True, slots=True)
class KubeconfigContext:
    """The entries of one context of a kubeconfig.

    Attributes:
        origin: The files, for messages.
        cluster: The cluster's entry, with the ``folder`` of its file.
        user: The user's entry, with the ``folder`` of its file; empty if the context has no user.
    """

    origin: str
    name: str
    cluster: Mapping[str, Any]
    user: Mapping[str, Any]


def kubeconfig_files(named: str) -> list[Path]:
    """Return the existing files of a kubeconfig, whose path may be a list like KUBECONFIG.

    Like kubectl, missing files are left out.

    Raises:
        ClusterError: If all are missing.
    """
    paths = [Path(text).expanduser() for text in named.split(os.pathsep) if text]
    found = [path for path in paths if path.exists()]
    if not found:
        advice = (advice_on_missing_lab(path) for path in paths)
        what_to_do = next(filter(None, advice), f"correct the path: {_ADVICE}")
        raise ClusterError(f"the kubeconfig {named} does not exist; {what_to_do}")
    return found


def default_files() -> list[Path]:
    """Return the files that kubectl reads without an option; empty without any, such as in a pod."""
    named = os.environ.get("KUBECONFIG")
    default = Path.home() / ".kube" / "config"
    return kubeconfig_files(named) if named else [default] if default.is_file() else []


def read_context(paths: list[Path], context: str | None) -> KubeconfigContext:
    """Return the entries of *context*, by default of the current one.

    Raises:
        ClusterError: If a file is not a kubeconfig, or an entry is missing.
    """
    configuration = _merged(paths)
    origin = os.pathsep.join(str(path) for path in paths)
    chosen = context or str(configuration.get("current-context") or "")
    if not chosen:
        raise ClusterError(
            f"the kubeconfig {origin} has no current-context; "
            "set perf_kube_context, or kubectl config use-context in the file"
        )
    entry = _named(configuration, "contexts", chosen, "context", origin)
    cluster = _named(configuration, "clusters", str(entry.get("cluster")), "cluster", origin)
    if not cluster.get("server"):
        raise ClusterError(f"the kubeconfig {origin} has no server for its cluster {entry.get('cluster')!r}")
    user = _named(configuration, "users", str(entry["user"]), "user", origin) if entry.get("user") else {}
    return KubeconfigContext(origin, chosen, cluster, user)


def checked_server(address: str) -> str:
    """Return *address* if it contains no user name or password: it is written to logs and artifacts.

    Raises:
        ClusterError: If it contains one; the message shows neither.
    """
    parts = urlsplit(address)
    if "@" not in parts.netloc:
        return address
    where = urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))
    raise ClusterError(
        f"the address of the cluster at {where} has a user name or a password in it, which Kubernetes does not accept; "
        "remove them from the server's URL, and add a token or a client certificate to the kubeconfig's user"
    )


def _merged(paths: list[Path]) -> dict[str, Any]:
    """Return several kubeconfigs as one; of entries with the same name, the first is used."""
    merged: dict[str, Any] = {name: [] for name in _LISTS}
    for path in paths:
        document = _read(path)
        # the first file with a current-context decides
        merged["current-context"] = merged.get("current-context") or document.get("current-context")
        for kind in _LISTS:
            entries = document.get(kind) or []
            if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
                raise ClusterError(
                    f"the kubeconfig {path} is damaged: {kind} is not a list of mappings; correct it, or {_ADVICE}"
                )
            merged[kind] += [{**entry, "folder": path.resolve().parent} for entry in entries]
    return merged


def _read(path: Path) -> dict[str, Any]:
    try:
        document = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ClusterError(f"the kubeconfig {path} cannot be read: {error.strerror}; {_ADVICE}") from error
    except (ValueError, RecursionError, yaml.YAMLError) as error:
        # not the error itself: it shows the line, which may contain a token
        mark = getattr(error, "problem_mark", None)
        line = f" (line {mark.line + 1})" if mark else ""
        raise ClusterError(f"the kubeconfig {path} is not YAML{line}; correct it, or {_ADVICE}") from None
    if not isinstance(document, dict):
        kind = _KINDS.get(type(document), "something else")
        raise ClusterError(f"the kubeconfig {path} must be a mapping, not {kind}; correct it, or {_ADVICE}")
    return document


def _named(configuration: Mapping[str, Any], kind: str, name: str, singular: str, origin: str) -> dict[str, Any]:
    for entry in configuration[kind]:
        if entry.get("name") == name:
            content = entry.get(singular) or {}
            if not isinstance(content, dict):
                raise ClusterError(
                    f"the kubeconfig {origin} is damaged: its {singular} {name!r} holds "
                    f"{_KINDS.get(type(content), 'something else')} instead of a mapping; correct it, or {_ADVICE}"
                )
            return {**content, "folder": entry["folder"]}
    names = ", ".join(sorted(str(entry.get("name")) for entry in configuration[kind])) or "none"
    raise ClusterError(f"the kubeconfig {origin} has no {singular} {name!r}; it has: {names}")
