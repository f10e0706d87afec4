"""Functions for the rules of Hive: the Secrets for access to a claimed cluster, which is the lab itself."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from perflab.emulators.engine.functions import encoded

# the emulators run in the lab's folder
_KUBECONFIG = Path("kubeconfig")


def lab_kubeconfig() -> str:
    """Return the kubeconfig of the lab, as the data of a Secret; empty without a lab, as in a test of rules."""
    return encoded(_KUBECONFIG.read_text(encoding="utf-8")) if _KUBECONFIG.is_file() else ""


def lab_server() -> str:
    """Return the address of the lab's API server; empty without a lab."""
    text = _KUBECONFIG.read_text(encoding="utf-8") if _KUBECONFIG.is_file() else ""
    return next((line.split()[-1] for line in text.splitlines() if line.strip().startswith("server:")), "")


def password(uid: str) -> str:
    """Return a password in the form of installers', as the data of a Secret; no lab checks it."""
    digest = hashlib.sha256(uid.encode()).hexdigest()
    return encoded("-".join(digest[start : start + 5] for start in (0, 5, 10, 15)))


FUNCTIONS: Mapping[str, Callable[..., Any]] = {each.__name__: each for each in (lab_kubeconfig, lab_server, password)}
