"""What documents say of a lab: which of its parts are real, which emulated, which simulated; and where labs are."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_KUBECONFIG = "kubeconfig"


@dataclass(frozen=True, slots=True)
class Lab:
    """The lab that a cluster is: its name, and what of it runs itself, is emulated, or is simulated."""

    name: str
    real: tuple[str, ...] = ()
    emulated: tuple[str, ...] = ()
    simulated: tuple[str, ...] = ()

    def document(self) -> dict[str, Any]:
        """The value ``lab`` of ``run.json`` and of recordings."""
        parts = {"real": self.real, "emulated": self.emulated, "simulated": self.simulated}
        return {"name": self.name, **{word: list(names) for word, names in parts.items()}}


def lab_of(data: Mapping[str, str] | None) -> Lab | None:
    """The lab, by the *data* of its ConfigMap ``kube-system/perflab``; None for a cluster without one."""
    if data is None:
        return None
    return Lab(data.get("name", ""), *(_names(data.get(word)) for word in ("real", "emulated", "simulated")))


def lab_kubeconfig(name: str) -> Path:
    """Where the lab of this machine that has this *name* keeps its kubeconfig, as long as it exists."""
    return _labs_folder() / name / _KUBECONFIG


def advice_on_missing_lab(kubeconfig: Path) -> str:
    """What to do when *kubeconfig* is that of a lab that does not exist; empty for any other kubeconfig."""
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
