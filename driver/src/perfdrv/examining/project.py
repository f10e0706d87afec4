"""Checks of a project: the lines of its ansible.cfg, and the collections that Ansible finds from it."""

from __future__ import annotations

import configparser
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from importlib.metadata import version
from pathlib import Path

from perfdrv.ansible.environment import clean_environment
from perfdrv.ansible.private_directory import private_directory
from perfdrv.errors import EXIT_USAGE
from perfdrv.examining.findings import Finding, optional, required
from perfdrv.project import Project, shown_path

# lines below [defaults] by option: a part of the value, and the line to add
LINES = {
    "vars_plugins_enabled": ("psap.perf.presets", "vars_plugins_enabled = host_group_vars, psap.perf.presets"),
    "callbacks_enabled": ("psap.perf.run_directory", "callbacks_enabled = psap.perf.run_directory"),
    "precedence": (
        "all_plugins_play, all_inventory",
        "precedence = all_plugins_play, all_inventory, all_plugins_inventory, groups_plugins_play, groups_inventory, "
        "groups_plugins_inventory",
    ),
}
# collections of others that some flows use
OTHERS = ("kubernetes.core", "community.general")


def examine_project(project: Project) -> Iterator[Finding]:
    """Yield the findings for a project."""
    yield from examine_config(project.root / "ansible.cfg")
    found = _collections(project)
    own = version("psap-perf")
    named = found.get("psap.perf", "not found by Ansible")
    yield required(
        "psap.perf",
        named == own,
        named,
        f"Ansible must find perfdrv's version, {own}: remove the other one, or run: pip install --upgrade psap-perf",
        EXIT_USAGE,
    )
    for name in OTHERS:
        yield optional(
            name,
            name in found,
            found.get(name, "not installed"),
            "for some flows: pip install 'psap-perf[collections]'",
        )


def examine_config(path: Path) -> Iterator[Finding]:
    """Yield a finding for each line that ansible.cfg needs."""
    config = configparser.ConfigParser(interpolation=None)
    config.read(path, encoding="utf-8")
    for option, (part, line) in LINES.items():
        value = config.get("defaults", option, fallback="")
        yield required(
            f"{path.name}: {option}",
            part in value,
            (value.partition(",")[0] and "set") or "not set",
            f"add below [defaults] of {shown_path(path)}: {line}",
            EXIT_USAGE,
        )


def _collections(project: Project) -> Mapping[str, str]:
    """Return the versions of the collections that Ansible finds; the first path takes effect."""
    program = Path(sys.executable).parent / "ansible-galaxy"
    with private_directory() as private:
        done = subprocess.run(  # noqa: S603 - Ansible's own program
            [str(program), "collection", "list", "--format", "json"],
            cwd=project.root,
            env=clean_environment(project.root, private.path) | private.variables(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
    folders = json.loads(done.stdout or "{}") if done.returncode == 0 else {}
    found: dict[str, str] = {}
    for collections in folders.values():
        for name, about in collections.items():
            found.setdefault(name, str(about["version"]))
    return found
