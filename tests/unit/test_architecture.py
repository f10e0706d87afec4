"""The drawings of the architecture are those of the code, and no function hides an import between modules of ours.

Which room may import which, and that there is no circle, are contracts of import-linter: ``lint-imports``.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.programs import PROJECT, loaded

PLUGINS = "collections/ansible_collections/psap/perf/plugins"
PACKAGES = ("driver/src", "analysis/src", "lab/src", f"{PLUGINS}/module_utils", f"{PLUGINS}/plugin_utils")
OURS = ("perfdrv", "perfanalysis", "perflab", "ansible_collections.psap")
AT_THE_ENTRY = "__main__.py"
"""Here the packages are imported where a Ctrl-C is caught."""


def hidden_imports(path: Path) -> Iterator[str]:
    for function in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            for node in ast.walk(function):
                if isinstance(node, ast.ImportFrom) and str(node.module).startswith(OURS):
                    yield f"{path.relative_to(PROJECT)}:{node.lineno}: {node.module}"


@pytest.mark.parametrize("package", PACKAGES)
def test_no_function_hides_an_import_of_ours(package: str) -> None:
    paths = sorted((PROJECT / package).rglob("*.py"))
    assert paths
    assert [line for path in paths if path.name != AT_THE_ENTRY for line in hidden_imports(path)] == []


@pytest.mark.parametrize("package", PACKAGES)
def test_rooms_and_modules_are_small(package: str) -> None:
    paths = [path for path in (PROJECT / package).rglob("*.py") if path.name != "__init__.py"]
    long = {str(path.relative_to(PROJECT)) for path in paths if len(path.read_text().splitlines()) > 400}
    folders = {path.parent for path in paths}
    crowded = {str(f.relative_to(PROJECT)) for f in folders if sum(path.parent == f for path in paths) > 25}
    assert (long, crowded) == (set(), set())


def test_the_drawings_are_up_to_date() -> None:
    generator = loaded(PROJECT / "docs/generate_architecture.py")
    text = generator.PAGE.read_text(encoding="utf-8")
    assert text == generator.page(text), "run: python docs/generate_architecture.py"
