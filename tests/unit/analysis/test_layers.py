"""The analysis reads run directories and nothing else: no Ansible, no driver, no collection, no lab."""

from __future__ import annotations

import ast
from pathlib import Path

import perfanalysis

FOREIGN = {"ansible", "ansible_runner", "ansible_collections", "perfdrv", "perflab", "kubernetes", "pickle"}
SOURCES = sorted(Path(str(perfanalysis.__file__)).parent.rglob("*.py"))


def imported(path: Path) -> set[str]:
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module.split(".")[0])
    return names


def test_nothing_foreign_is_imported() -> None:
    assert {path.name: imported(path) & FOREIGN for path in SOURCES if imported(path) & FOREIGN} == {}


def test_modules_are_short() -> None:
    assert {
        path.name: len(path.read_text().splitlines()) for path in SOURCES if len(path.read_text().splitlines()) > 400
    } == {}


def test_a_parser_is_at_most_thirty_lines() -> None:
    lines = {str(path): len(path.read_text().splitlines()) for path in SOURCES if path.name == "parser.py"}
    assert lines
    assert {path: count for path, count in lines.items() if count > 30} == {}
