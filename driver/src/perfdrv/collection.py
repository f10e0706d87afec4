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
# the collection that a wheel installs, where Ansible finds it too; a clone's driver has none here
INSTALLED = Path(__file__).resolve().parents[1] / PACKAGE / "psap" / "perf"
# in the ansible.cfg of a project without a collection: the vars plugin, which every project needs
_MARK = "psap.perf.presets"


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
            needs = f"it needs ansible.cfg, with the collection in {COLLECTION} or installed"
            raise UsageError(f"{given} is not a psap.perf project: {needs}; pass another folder with --project")
        return given.resolve()
    origin = (start or Path.cwd()).resolve()
    for folder in (origin, *origin.parents):
        if is_project(folder):
            return folder
    raise UsageError(
        f"no psap.perf project at or above {origin}: create one with perfdrv init, change into one, or name it: "
        "perfdrv --project DIR …"
    )


def own_root() -> Path | None:
    """Return the root of the project whose checkout contains this driver, or the folder of the installed collection."""
    root = Path(__file__).resolve().parents[3]
    if is_project(root):
        return root
    return INSTALLED if INSTALLED.is_dir() else None


def is_project(folder: Path) -> bool:
    """Return whether a folder is the root of a project: ansible.cfg with a collection or for the installed one."""
    config = folder / "ansible.cfg"
    if not config.is_file():
        return False
    return (folder / COLLECTION).is_dir() or (
        INSTALLED.is_dir() and _MARK in config.read_text(encoding="utf-8", errors="replace")
    )


def collection_of(root: Path) -> Path:
    """Return the folder of the collection that a project uses: its own, else the installed one."""
    own = root / COLLECTION
    return own if own.is_dir() else INSTALLED


def activate(project_root: Path) -> None:
    """Let `import ansible_collections.psap.perf...` find the collection of a project.

    A second call for the same project does nothing. A process can use one collection only, because modules of a second
    one would mix with those already imported.

    Raises:
        UsageError: The project has no collection, or the process uses another one.
    """
    collection = collection_of(project_root)
    code = collection / "plugins"
    if not code.is_dir():
        missing = project_root / COLLECTION / "plugins"
        raise UsageError(f"{project_root} has no psap.perf collection: {missing} is missing")
    active = _active_code()
    if active is None:
        package = types.ModuleType(PACKAGE)
        package.__path__ = [str(collection.parents[1].resolve())]
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
