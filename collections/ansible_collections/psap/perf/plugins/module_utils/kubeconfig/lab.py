"""Describe a lab in documents, by its real, emulated and simulated parts, and find its kubeconfig."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_KUBECONFIG = "kubeconfig"
_WORDS = ("real", "emulated", "simulated", "absent")
_REAL_SERVER = "model server on a CPU"


@dataclass(frozen=True, slots=True)
class Lab:
    """A lab's name, its parts that are real, emulated, or simulated, and what a real part does not have."""

    name: str
    real: tuple[str, ...] = ()
    emulated: tuple[str, ...] = ()
    simulated: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()

    def document(self) -> dict[str, Any]:
        """Return the value ``lab`` of ``run.json`` and of recordings, without ``absent`` if nothing is."""
        parts = {"real": self.real, "emulated": self.emulated, "simulated": self.simulated}
        if self.absent:
            parts["absent"] = self.absent
        return {"name": self.name, **{word: list(names) for word, names in parts.items()}}

    def serving(self, *, is_real: bool) -> Lab:
        """Return the lab as a recording of a served model describes it: nothing of a real server is simulated."""
        return Lab(self.name, real=(_REAL_SERVER,)) if is_real else self


def lab_of(data: Mapping[str, str] | None) -> Lab | None:
    """Return the lab, from the *data* of its ConfigMap ``kube-system/perflab``; None for a cluster without one."""
    if data is None:
        return None
    return Lab(data.get("name", ""), *(_names(data.get(word)) for word in _WORDS))


def lab_kubeconfig(name: str) -> Path:
    """Return the path of the kubeconfig of a lab on this machine, which need not exist."""
    return _labs_folder() / name / _KUBECONFIG


def advice_on_missing_lab(kubeconfig: Path) -> str:
    """Return advice if *kubeconfig* belongs to a lab that does not exist; empty for any other kubeconfig."""
    folder = _labs_folder().resolve()
    if kubeconfig.name != _KUBECONFIG or kubeconfig.parent.parent.resolve() != folder:
        return ""
    start = f"start the lab with: perflab up --name {kubeconfig.parent.name}"
    others = sorted(path.parent.name for path in folder.glob(f"*/{_KUBECONFIG}"))
    if not others:
        return start
    use = " or ".join(f"PERF_LAB={name}" for name in others)
    return f"{start}, or use a lab that exists: set {use}"


def _labs_folder() -> Path:
    state = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state")
    return Path(os.environ.get("PERFLAB_HOME") or state / "perflab")


def _names(text: str | None) -> tuple[str, ...]:
    return tuple(name.strip() for name in (text or "").split(",") if name.strip())
