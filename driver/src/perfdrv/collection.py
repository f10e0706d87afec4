"""The project's root, and the import of its collection outside Ansible.

In Ansible, its own loader provides `ansible_collections`. Elsewhere that name would be the package of the Python
environment's community collections, or nothing.
"""

from __future__ import annotations

import sys
import types
from pathlib import Path

from perfdrv.errors import UsageError

PACKAGE = "ansible_collections"
COLLECTION = Path("collections") / PACKAGE / "psap" / "perf"


def find_root(given: Path | None = None, start: Path | None = None) -> Path:
    """Return the root of the project.

    Args:
        given: The root, from the command line.
        start: The folder from which the search goes upward; by default the working directory.

    Raises:
        UsageError: There is no project.
    """
    if given is not None:
        if not is_project(given):
            needs = f"it needs ansible.cfg and {COLLECTION}"
            raise UsageError(f"{given} is not a psap.perf project: {needs}; pass another folder with --project")
        return given.resolve()
    origin = (start or Path.cwd()).resolve()
    for folder in (origin, *origin.parents):
        if is_project(folder):
            return folder
    raise UsageError(f"no psap.perf project at or above {origin}: change into one, or name it: perfdrv --project DIR …")


def own_root() -> Path | None:
    """Return the root of the project whose checkout contains this driver; None for any other installation."""
    root = Path(__file__).resolve().parents[3]
    return root if is_project(root) else None


def is_project(folder: Path) -> bool:
    """Return whether a folder is the root of a project."""
    return (folder / "ansible.cfg").is_file() and (folder / COLLECTION).is_dir()


def activate(project_root: Path) -> None:
    """Let `import ansible_collections.psap.perf...` find the collection of a project.

    A second call for the same project does nothing. A process can use one collection only, because modules of a second
    one would mix with those already imported.

    Raises:
        UsageError: The project has no collection, or the process uses another one.
    """
    code = project_root / COLLECTION / "plugins"
    if not code.is_dir():
        raise UsageError(f"{project_root} has no psap.perf collection: {code} is missing")
    active = _active_code()
    if active is None:
        package = types.ModuleType(PACKAGE)
        package.__path__ = [str((project_root / "collections" / PACKAGE).resolve())]
        sys.modules[PACKAGE] = package
    elif active != code.resolve():
        raise UsageError(f"cannot use {code}: this process already uses {active}")


def _active_code() -> Path | None:
    package = sys.modules.get(PACKAGE)
    if package is None:
        return None
    for location in package.__path__:
        code = Path(location) / "psap" / "perf" / "plugins"
        if code.is_dir():
            return code.resolve()
    return None
