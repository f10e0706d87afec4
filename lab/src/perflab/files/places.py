"""Where the lab keeps its files: the user's cache for binaries, the user's state folder for labs."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path


def _absolute(value: str | None) -> Path | None:
    # the XDG specification requires ignoring relative paths
    return Path(value) if value and Path(value).is_absolute() else None


def cache_root(environment: Mapping[str, str] = os.environ) -> Path:
    """Return the folder of everything that can be built again: `<cache>/perflab`."""
    base = _absolute(environment.get("XDG_CACHE_HOME")) or Path.home() / ".cache"
    return base / "perflab"


def home(environment: Mapping[str, str] = os.environ) -> Path:
    """Return the folder of all labs, without symbolic links: `$PERFLAB_HOME`, or `perflab` below the user's state
    folder.
    """
    chosen = environment.get("PERFLAB_HOME")
    if chosen:
        return Path(chosen).expanduser().resolve()
    base = _absolute(environment.get("XDG_STATE_HOME")) or Path.home() / ".local" / "state"
    return (base / "perflab").resolve()
