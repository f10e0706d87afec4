"""What Ansible's facts say of a host, as the same few fields whatever its system."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_MIB = 1 << 20


def host_facts(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Fields without names of the host or its users, from facts with or without the prefix ``ansible_``.

    Linux and macOS say their memory in MiB, and so does Windows.
    """
    known = {name.removeprefix("ansible_"): value for name, value in facts.items()}
    family = str(known.get("system") or known.get("os_family") or "")
    system = {"Linux": "linux", "Darwin": "darwin"}.get(family, "windows" if "Win32NT" in family else family.lower())
    memory = known.get("memtotal_mb")
    role = known.get("virtualization_role")
    return {
        "system": system,
        "distribution": known.get("os_name") if system == "windows" else known.get("distribution"),
        "version": known.get("distribution_version"),
        "kernel": known.get("kernel"),
        "arch": _arch(known.get("architecture")),
        "product": known.get("product_name") or known.get("model"),
        "processor": _processor(known.get("processor"), system),
        "cpus": known.get("processor_vcpus"),
        "memory_bytes": None if memory is None else int(memory) * _MIB,
        "virtual": known.get("virtualization_type") if role == "guest" else None,
    }


def _arch(said: Any) -> str | None:
    """Systems have several words for two architectures."""
    return {"64-bit": "x86_64", "AMD64": "x86_64", "aarch64": "arm64"}.get(str(said), str(said)) if said else None


def _processor(said: Any, system: str) -> str | None:
    if isinstance(said, str):
        return said
    if not said:
        return None
    if system == "linux":
        models = [str(each) for each in said if not str(each).isdigit()]
        return models[1] if len(models) > 1 else models[0]
    return " ".join(str(said[-1]).split())
