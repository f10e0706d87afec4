"""The rooms of the analysis: who imports whom, and how large they are. No Ansible, no driver, no collection, no lab."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import perfanalysis
import pytest

FOREIGN = {"ansible", "ansible_runner", "ansible_collections", "perfdrv", "perflab", "kubernetes", "pickle"}
ROOMS = ("reports", "verdicts", "imports", "results", "workloads", "drawing", "files")
"""A room imports those to the right of it only."""
BESIDE = ("errors", "units")
"""Modules that every room may import, and that import none."""
ENTRY = "perfanalysis.__main__"
"""Imports within a function, where a Ctrl-C is no traceback."""
MOST_MODULES = 25
ROOT = Path(str(perfanalysis.__file__)).parent
SOURCES = sorted(ROOT.rglob("*.py"))


def name_of(path: Path) -> str:
    parts = ["perfanalysis", *path.relative_to(ROOT).with_suffix("").parts]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


TREES = {name_of(path): ast.parse(path.read_text(encoding="utf-8")) for path in SOURCES}


def imported(tree: ast.AST) -> Iterator[str]:
    """What a tree imports, by full names; a name of a package's module counts as that module."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield inner if inner in TREES else str(node.module)


GRAPH = {name: {other for other in imported(tree) if other in TREES} for name, tree in TREES.items()}


def room(module: str) -> str:
    return module.split(".")[1] if "." in module else ""


@pytest.mark.parametrize("name", ROOMS)
def test_a_room_imports_those_to_its_right_only(name: str) -> None:
    allowed = {*ROOMS[ROOMS.index(name) :], *BESIDE}
    arrows = [(module, other) for module, others in GRAPH.items() if room(module) == name for other in others]
    assert arrows
    assert [arrow for arrow in arrows if room(arrow[1]) not in allowed] == []


def test_the_root_has_the_command_line_and_what_all_share() -> None:
    assert {room(module) for module in TREES} - {""} == {*ROOMS, *BESIDE, "__main__", "cli"}
    assert {module: others for module, others in GRAPH.items() if room(module) in (*BESIDE, "cli") and others} == {}


def test_no_module_imports_itself_by_way_of_others() -> None:
    try:
        TopologicalSorter(GRAPH).prepare()
    except CycleError as error:
        pytest.fail(" → ".join(error.args[1]))


def test_only_heavy_libraries_are_imported_within_a_function() -> None:
    functions = (
        (module, node)
        for module, tree in TREES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and module != ENTRY
    )
    hidden = {(module, name) for module, node in functions for name in imported(node) if name in TREES}
    assert hidden == set()


def test_a_folder_is_read_at_a_glance() -> None:
    folders = {path.parent for path in SOURCES}
    counts = {str(folder.relative_to(ROOT)): len(list(folder.glob("*.py"))) - 1 for folder in folders}
    assert {folder: count for folder, count in counts.items() if count > MOST_MODULES} == {}


def test_nothing_foreign_is_imported() -> None:
    names = {module: {name.split(".")[0] for name in imported(tree)} & FOREIGN for module, tree in TREES.items()}
    assert {module: found for module, found in names.items() if found} == {}


def test_modules_are_short() -> None:
    lines = {name_of(path): len(path.read_text(encoding="utf-8").splitlines()) for path in SOURCES}
    assert {module: count for module, count in lines.items() if count > 400} == {}


def test_a_parser_is_at_most_thirty_lines() -> None:
    lines = {str(path): len(path.read_text().splitlines()) for path in SOURCES if path.name == "parser.py"}
    assert lines
    assert {path: count for path, count in lines.items() if count > 30} == {}
