"""Finds the project, and makes its collection's pure code importable outside Ansible.

Inside Ansible its own loader serves `ansible_collections`; elsewhere that name would find the
community collections of the Python environment, or nothing.
"""

from __future__ import annotations

import sys
import types
from pathlib import Path

from perfdrv.errors import UsageError

PACKAGE = "ansible_collections"
COLLECTION = Path("collections") / PACKAGE / "psap" / "perf"


def find_root(given: Path | None = None, start: Path | None = None) -> Path:
    """The root of the project found upward from *start* (the working directory), or of the one *given*.

    Raises:
        UsageError: there is none.
    """
    if given is not None:
        if not is_project(given):
            needs = f"it needs ansible.cfg and {COLLECTION}"
            raise UsageError(f"{given} is no psap.perf project: {needs}. Give --project another folder.")
        return given.resolve()
    origin = (start or Path.cwd()).resolve()
    for folder in (origin, *origin.parents):
        if is_project(folder):
            return folder
    raise UsageError(f"No psap.perf project at or above {origin}. Change into one, or name it: perfdrv --project DIR …")


def own_root() -> Path | None:
    """The root of the project that this driver was installed from, where it was installed as that project's own."""
    root = Path(__file__).resolve().parents[3]
    return root if is_project(root) else None


def is_project(folder: Path) -> bool:
    """Whether a folder is the root of a project."""
    return (folder / "ansible.cfg").is_file() and (folder / COLLECTION).is_dir()


def activate(project_root: Path) -> None:
    """Let `import ansible_collections.psap.perf...` find the collection of a project.

    Repeating it for the same code is free. One process serves one collection: a second one is
    refused, since its modules would mix with those already imported.

    Raises:
        UsageError: the project has no collection, or another one is active.
    """
    code = project_root / COLLECTION / "plugins"
    if not code.is_dir():
        raise UsageError(f"{project_root} has no psap.perf collection: {code} is missing.")
    active = _active_code()
    if active is None:
        package = types.ModuleType(PACKAGE)
        package.__path__ = [str((project_root / "collections" / PACKAGE).resolve())]
        sys.modules[PACKAGE] = package
    elif active != code.resolve():
        raise UsageError(f"{active} is already in use by this process; {code} cannot be added to it.")


def _active_code() -> Path | None:
    package = sys.modules.get(PACKAGE)
    if package is None:
        return None
    for location in package.__path__:
        code = Path(location) / "psap" / "perf" / "plugins"
        if code.is_dir():
            return code.resolve()
    return None
