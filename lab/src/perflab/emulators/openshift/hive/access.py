"""What the rules of Hive call: the Secrets by which somebody gets into a claimed cluster, which is the lab itself."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from perflab.emulators.engine.functions import encoded

# the emulators work in the lab's folder
_KUBECONFIG = Path("kubeconfig")


def lab_kubeconfig() -> str:
    """The kubeconfig of the lab, as the data of a Secret; empty where there is no lab, as in a test of rules."""
    return encoded(_KUBECONFIG.read_text(encoding="utf-8")) if _KUBECONFIG.is_file() else ""


def lab_server() -> str:
    """The address of the lab's API server; empty where there is no lab."""
    text = _KUBECONFIG.read_text(encoding="utf-8") if _KUBECONFIG.is_file() else ""
    return next((line.split()[-1] for line in text.splitlines() if line.strip().startswith("server:")), "")


def password(uid: str) -> str:
    """A password of the form that installers make, as the data of a Secret; no lab checks it."""
    digest = hashlib.sha256(uid.encode()).hexdigest()
    return encoded("-".join(digest[start : start + 5] for start in (0, 5, 10, 15)))


FUNCTIONS: Mapping[str, Callable[..., Any]] = {each.__name__: each for each in (lab_kubeconfig, lab_server, password)}
