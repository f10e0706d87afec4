"""Facts about a host, in the same few fields for all operating systems."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_MIB = 1 << 20


def host_facts(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return fields without names of the host or its users, from facts with or without the prefix ``ansible_``."""
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


def _arch(name: Any) -> str | None:
    """Return one name for each architecture, since names differ between systems."""
    return {"64-bit": "x86_64", "AMD64": "x86_64", "aarch64": "arm64"}.get(str(name), str(name)) if name else None


def _processor(fact: Any, system: str) -> str | None:
    if isinstance(fact, str):
        return fact
    if not fact:
        return None
    if system == "linux":
        models = [str(each) for each in fact if not str(each).isdigit()]
        return models[1] if len(models) > 1 else models[0]
    return " ".join(str(fact[-1]).split())
