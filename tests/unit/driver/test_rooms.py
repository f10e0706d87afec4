"""The driver's folders: imports between them go one way, and none hides in a function."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import perfdrv

ROOT = Path(perfdrv.__file__).parent
# each may import those after it, and within itself
ROOMS = (
    "commands",
    "command_line",
    "notifying",
    "ci",
    "execution",
    "exporting",
    "views",
    "ansible",
    "runs",
    "project",
    "collection",
    "errors",
)
OURS = ("perfdrv", "perfanalysis", "perflab", "ansible_collections")
# the program itself, where a Ctrl-C is no traceback; the worker, which is told where the collection is; reports, since
# what draws them is heavy
LAZY = {
    "perfdrv.__main__._run",
    "perfdrv.ansible.worker._end_with_driver",
    "perfdrv.commands.report.report",
    "perfdrv.views.ending.report_of",
}


def modules() -> Iterator[tuple[str, ast.Module]]:
    """Dotted name and syntax tree of each module of the package."""
    for path in sorted(ROOT.rglob("*.py")):
        parts = path.relative_to(ROOT.parent).with_suffix("").parts
        yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts), ast.parse(path.read_text())


MODULES = dict(modules())


def imported(tree: ast.AST) -> Iterator[str]:
    """The modules of the project that a part of a module imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.startswith(OURS))
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith(OURS):
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                yield full if full in MODULES else str(node.module)


def room(module: str) -> str:
    """The folder of a module below the root, or the module itself."""
    return module.split(".")[1] if "." in module else ""


def test_rooms_import_only_what_comes_after_them() -> None:
    wrong = [
        f"{name} imports {other}"
        for name, tree in MODULES.items()
        for other in imported(tree)
        if other in MODULES and room(name) not in ("", "cli", "__main__")
        if room(other) not in ROOMS[ROOMS.index(room(name)) :]
    ]
    assert wrong == []


def test_modules_import_each_other_in_no_circle() -> None:
    edges = {name: set(imported(tree)) - {name} for name, tree in MODULES.items()}
    while leaves := [name for name, others in edges.items() if not others & edges.keys()]:
        for name in leaves:
            del edges[name]
    assert edges == {}


def test_imports_of_our_own_stand_at_the_top() -> None:
    hidden = {
        f"{name}.{function.name}"
        for name, tree in MODULES.items()
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef) and any(imported(function))
    }
    assert hidden == LAZY


def test_nothing_of_the_root_needs_a_project_before_a_command_is_known() -> None:
    early = {"perfdrv", "perfdrv.__main__", "perfdrv.cli"}
    while more := {other for name in early for other in imported(MODULES[name]) if other in MODULES} - early:
        early |= more
    assert [
        name for name in sorted(early) if any(o.startswith("ansible_collections") for o in imported(MODULES[name]))
    ] == []


def test_the_driver_knows_no_flow_and_no_command() -> None:
    project = ROOT.parents[2]
    roles = project / "collections/ansible_collections/psap/perf/roles"
    flows = (path.parent.name for path in (project / "playbooks").glob("*/settings.yml"))
    # the role that opens every command has no group
    names = {*(role.name for role in roles.glob("*_*")), *flows}
    words = {
        node.value
        for tree in MODULES.values()
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    assert names
    assert words & names == set()
