"""What container engines say of themselves: `info --format json` of podman and docker, as the same few facts."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.errors import HostError


def engine_facts(said: str, kind: str) -> dict[str, Any]:
    """Version, rights, storage and runtime of the engine *kind*, podman or docker, without names of host or user.

    ``memory_bytes`` and ``cpus`` are what the engine has, which on macOS and Windows is its virtual machine.

    :raises HostError: when it says no JSON, or that its daemon is not there.
    """
    try:
        document = json.loads(said)
    except ValueError as error:
        raise HostError(f"the output of {kind} info is not JSON: {said.strip()[:500]!r}") from error
    facts = _podman(document) if kind == "podman" else _docker(document)
    return {"engine": kind, **facts}


def require_version(facts: Mapping[str, Any], least: Mapping[str, str]) -> None:
    """Refuse an engine that is older than its version in *least*, such as ``{"podman": "5.4"}``, or not in it.

    :raises HostError: which says what is needed.
    """
    engine, version = facts["engine"], str(facts["version"])
    if engine in least and _numbers(version) >= _numbers(least[engine]):
        return
    needed = " or ".join(f"{name} {number}" for name, number in least.items())
    raise HostError(f"the engine is {engine} {version}, but this needs {needed} or later")


def _numbers(version: str) -> list[int]:
    """Of a version such as ``5.4.0-rc1`` the numbers before what is not one."""
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
        # the client talks to a virtual machine
        "remote": bool(host.get("serviceIsRemote")),
    }


def _docker(document: Mapping[str, Any]) -> dict[str, Any]:
    errors = document.get("ServerErrors")
    if errors:
        raise HostError(f"docker has no daemon: {'; '.join(errors)}")
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
