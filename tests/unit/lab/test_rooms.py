"""The lab's folders: imports between them go one way, and none hides in a function."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import perflab

ROOT = Path(perflab.__file__).parent
# each may import those after it, and within itself
ROOMS = ("control_plane", "serving", "emulators", "catalogs", "kubelet", "cluster", "processes", "building", "files")
# modules of the root that all rooms may import
SHARED = {"profiles", "errors"}
LARGEST = 25


def modules() -> Iterator[tuple[str, Path]]:
    """Dotted name and file of each module of the package."""
    for path in sorted(ROOT.rglob("*.py")):
        parts = path.relative_to(ROOT.parent).with_suffix("").parts
        yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts), path


MODULES = dict(modules())


def imported(tree: ast.AST) -> Iterator[str]:
    """The lab's own modules that a part of a module imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.startswith("perflab"))
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("perflab"):
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                yield full if full in MODULES else str(node.module)


def room(module: str) -> str:
    """The folder of a module below the root, or the module itself."""
    return module.split(".")[1] if "." in module else ""


def test_rooms_import_only_what_comes_after_them() -> None:
    wrong = []
    for name, path in MODULES.items():
        here = room(name)
        for other in imported(ast.parse(path.read_text())):
            there = room(other)
            allowed = ROOMS[ROOMS.index(here) :] if here in ROOMS else ()
            from_root = here in ("cli", "__main__") or (here in SHARED and there in SHARED)
            if not (from_root or there in SHARED or there in allowed):
                wrong.append(f"{name} imports {other}")
    assert wrong == []


def test_modules_import_each_other_in_no_circle() -> None:
    edges = {name: set(imported(ast.parse(path.read_text()))) - {name} for name, path in MODULES.items()}
    while leaves := [name for name, others in edges.items() if not others & edges.keys()]:
        for name in leaves:
            del edges[name]
    assert edges == {}


def test_imports_of_our_own_stand_at_the_top() -> None:
    # a command line imports what a command needs when it runs: its help shall be quick
    lazy = {f"{ROOT.name}.cli", f"{ROOT.name}.__main__"}
    hidden = [
        f"{name}.{function.name} imports {other}"
        for name, path in MODULES.items()
        if name not in lazy
        for function in ast.walk(ast.parse(path.read_text()))
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        for other in imported(function)
    ]
    assert hidden == []


def test_folders_are_small() -> None:
    sizes = {folder: len(list(folder.glob("*.py"))) for folder in {path.parent for path in MODULES.values()}}
    assert {str(folder): size for folder, size in sizes.items() if size > LARGEST} == {}
