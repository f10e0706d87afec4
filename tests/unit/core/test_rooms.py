"""The rooms of the collection's plugins: imports between them go one way, and none hides in a function."""

from __future__ import annotations

import ast
import functools
import graphlib
from collections.abc import Iterator
from pathlib import Path

import pytest

_PLUGINS = Path(__file__).parents[3] / "collections/ansible_collections/psap/perf/plugins"
_PREFIX = "ansible_collections.psap.perf.plugins."
# a program that is started by its path: what it imports can be found only after it has said where
_STARTED_BY_PATH = "module_utils.base.child_process"


def _names(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and node.module:
        for alias in node.names:
            whole = f"{node.module}.{alias.name}"
            yield whole if (_PLUGINS / f"{whole.removeprefix(_PREFIX).replace('.', '/')}.py").exists() else node.module


def _own(nodes: Iterator[ast.AST]) -> set[str]:
    return {name.removeprefix(_PREFIX) for node in nodes for name in _names(node) if name.startswith(_PREFIX)}


@functools.cache
def _trees() -> dict[str, ast.Module]:
    paths = sorted(_PLUGINS.glob("**/*.py"))
    return {
        ".".join(path.relative_to(_PLUGINS).with_suffix("").parts).removesuffix(".__init__"): ast.parse(
            path.read_text(encoding="utf-8")
        )
        for path in paths
    }


def _order(graph: dict[str, set[str]]) -> tuple[str, ...]:
    try:
        return tuple(graphlib.TopologicalSorter(graph).static_order())
    except graphlib.CycleError as error:
        pytest.fail(" → ".join(error.args[1]))


def test_modules_import_without_a_circle() -> None:
    assert _order({name: _own(ast.walk(tree)) - {name} for name, tree in _trees().items()})


@pytest.mark.parametrize("inside", ["", "module_utils", "module_utils.scale_test"])
def test_rooms_import_without_a_circle(inside: str) -> None:
    depth = len(inside.split(".")) + 1 if inside else 1
    graph: dict[str, set[str]] = {}
    for name, tree in _trees().items():
        if name.startswith(inside):
            room = ".".join(name.split(".")[:depth])
            others = {".".join(other.split(".")[:depth]) for other in _own(ast.walk(tree)) if other.startswith(inside)}
            graph.setdefault(room, set()).update(others - {room, inside})
    assert _order(graph)


def test_imports_stand_at_the_top() -> None:
    hidden = {
        (name, imported)
        for name, tree in _trees().items()
        if name != _STARTED_BY_PATH
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        for imported in _own(ast.walk(function))
    }
    assert not hidden
