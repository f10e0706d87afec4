"""What container engines say of themselves: `info --format json` of podman and docker, as the same few facts."""

from __future__ import annotations

import json
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
        raise HostError(f"{kind} info says no JSON: {said.strip()[:500]!r}") from error
    facts = _podman(document) if kind == "podman" else _docker(document)
    return {"engine": kind, **facts}


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
