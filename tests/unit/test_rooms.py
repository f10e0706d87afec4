"""Checks beyond import-linter: sizes of folders and modules, names of flows in the driver."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.programs import PROJECT, ROLES

PLUGINS = ROLES.parent / "plugins"
PACKAGES = tuple(
    PROJECT / name
    for name in ("analysis/src/perfanalysis", "driver/src/perfci", "driver/src/perfdrv", "lab/src/perflab")
)
LARGEST_FOLDER = 25
LONGEST_MODULE = 400
LONGEST_PARSER = 30


@pytest.mark.parametrize("package", [*PACKAGES, PLUGINS / "module_utils", PLUGINS / "plugin_utils"], ids=str)
def test_folders_and_modules_are_short(package: Path) -> None:
    modules = sorted(package.rglob("*.py"))
    assert modules
    folders = {path.parent for path in modules}
    sizes = {folder: len([path for path in folder.glob("*.py") if path.stem != "__init__"]) for folder in folders}
    lines = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in modules}
    assert [folder for folder, size in sizes.items() if size > LARGEST_FOLDER] == []
    assert [path for path, count in lines.items() if count > LONGEST_MODULE] == []
    assert [path for path, count in lines.items() if path.name == "parser.py" and count > LONGEST_PARSER] == []


def test_driver_names_no_flow_and_no_command() -> None:
    flows = {path.parent.name for path in (PROJECT / "playbooks").glob("*/settings.yml")}
    # The role that opens every command has no group.
    commands = {role.name for role in ROLES.glob("*_*")}
    texts = {
        node.value
        for path in (PROJECT / "driver/src").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    assert flows
    assert commands
    assert texts & (flows | commands) == set()
