"""One version, one tree: the installed packages are those of this checkout."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import yaml

PROJECT = Path(__file__).resolve().parents[2]
COLLECTION = PROJECT / "collections" / "ansible_collections" / "psap" / "perf"


def test_distribution_and_collection_have_one_version() -> None:
    distribution = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]["version"]
    assert yaml.safe_load((COLLECTION / "galaxy.yml").read_text())["version"] == distribution


def test_collection_builds(tmp_path: Path) -> None:
    galaxy = Path(sys.executable).parent / "ansible-galaxy"
    done = subprocess.run(
        [str(galaxy), "collection", "build", str(COLLECTION), "--output-path", str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    (built,) = tmp_path.glob("psap-perf-*.tar.gz")
    names = subprocess.run(["tar", "-tf", str(built)], capture_output=True, text=True, check=True).stdout.split()
    assert "roles/command/meta/main.yml" in names
    assert not [name for name in names if "__pycache__" in name]


def test_verbs_and_their_documentation_match() -> None:
    modules = COLLECTION / "plugins" / "modules"
    # A program that runs on hosts is no verb; the verb that calls it may have the same name.
    on_hosts = {name for name in _files(modules) if "AnsibleModule(" in (modules / name).read_text()}
    assert _files(COLLECTION / "plugins" / "action") | on_hosts == _files(modules)


def _files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*.py")}


def test_every_verb_named_in_yaml_exists() -> None:
    plugins = COLLECTION / "plugins"
    known = {
        ".".join(path.relative_to(folder).with_suffix("").parts)
        for folder in (plugins / "action", plugins / "lookup", plugins / "callback", plugins / "vars")
        for path in folder.rglob("*.py")
    }
    roles = {path.name for path in (COLLECTION / "roles").iterdir()}
    named = {
        (path, name)
        for folder in (COLLECTION / "roles", PROJECT / "playbooks", PROJECT / "molecule", PROJECT / "group_vars")
        for path in folder.rglob("*.yml")
        for name in re.findall(r"^\s*(?:- )?psap\.perf\.([\w.]+):", path.read_text(), re.MULTILINE)
    }
    assert not {(path, name) for path, name in named if name not in known | roles}
    assert len(named) > len(known)
