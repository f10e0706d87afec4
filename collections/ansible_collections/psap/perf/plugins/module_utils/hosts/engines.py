"""Facts about container engines: `info --format json` of podman and docker, in the same few fields."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.errors import HostError


def engine_facts(output: str, kind: str) -> dict[str, Any]:
    """Return version, privileges, storage and runtime of an engine, without names of host or user.

    Args:
        output: JSON of its command ``info``.
        kind: podman or docker.

    Returns:
        Fields of the engine; on macOS and Windows, ``memory_bytes`` and ``cpus`` are those of its virtual machine.

    Raises:
        HostError: If *output* is not JSON, or the engine's daemon does not run.
    """
    try:
        document = json.loads(output)
    except ValueError as error:
        raise HostError(f"the output of {kind} info is not JSON: {output.strip()[:500]!r}") from error
    facts = _podman(document) if kind == "podman" else _docker(document)
    return {"engine": kind, **facts}


def require_version(facts: Mapping[str, Any], least: Mapping[str, str]) -> None:
    """Raise a HostError if an engine is older than in *least*, such as ``{"podman": "5.4"}``, or not in it."""
    engine, version = facts["engine"], str(facts["version"])
    if engine in least and _numbers(version) >= _numbers(least[engine]):
        return
    needed = " or ".join(f"{name} {number}" for name, number in least.items())
    raise HostError(f"the engine is {engine} {version}, but this needs {needed} or later")


def _numbers(version: str) -> list[int]:
    """Return the leading numbers of a version such as ``5.4.0-rc1``."""
    numbers = re.match(r"\d+(?:\.\d+)*", version)
    return [int(part) for part in numbers.group().split(".")] if numbers else []


def _podman(document: Mapping[str, Any]) -> dict[str, Any]:
    host, store = document["host"], document["store"]
    return {
        "version": document["version"]["Version"],
        "rootless": host["security"]["rootless"],
        "storage_driver": store["graphDriverName"],
        "runtime": host["ociRuntime"]["name"],
        "network": host.get("networkBackend"),
        "cgroups": host.get("cgroupVersion"),
        "os": host["os"],
        "arch": host["arch"],
        "kernel": host.get("kernel"),
        "cpus": host["cpus"],
        "memory_bytes": host["memTotal"],
        # the engine runs in a virtual machine
        "remote": bool(host.get("serviceIsRemote")),
    }


def _docker(document: Mapping[str, Any]) -> dict[str, Any]:
    errors = document.get("ServerErrors")
    if errors:
        raise HostError(f"the daemon of docker does not run: {'; '.join(errors)}")
    return {
        "version": document["ServerVersion"],
        "rootless": any("rootless" in option for option in document.get("SecurityOptions") or ()),
        "storage_driver": document["Driver"],
        "runtime": document["DefaultRuntime"],
        "network": None,
        "cgroups": f"v{document['CgroupVersion']}" if document.get("CgroupVersion") else None,
        "os": document["OSType"],
        "arch": document["Architecture"],
        "kernel": document.get("KernelVersion"),
        "cpus": document["NCPU"],
        "memory_bytes": document["MemTotal"],
        "remote": "Docker Desktop" in str(document.get("OperatingSystem")),
    }
