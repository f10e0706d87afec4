"""Programs that belong to no package, such as those that roles copy into pods."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

PROJECT = Path(__file__).resolve().parents[1]
ROLES = PROJECT / "collections/ansible_collections/psap/perf/roles"


def loaded(path: Path) -> ModuleType:
    """Load the program as a separate module, which no other test shares."""
    location = importlib.util.spec_from_file_location(path.stem, path)
    assert location is not None
    assert location.loader is not None
    module = importlib.util.module_from_spec(location)
    location.loader.exec_module(module)
    return module
