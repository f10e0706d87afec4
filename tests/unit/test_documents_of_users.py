"""The commands in README and docs: each is written in one way, with existing presets."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]
PAGES = [PROJECT / "README.md", *sorted((PROJECT / "docs").glob("*.md"))]
COMMAND = re.compile(r"\b(?:perfdrv|ansible-playbook playbooks)\b[^`\n#]*")


def commands(page: Path) -> list[str]:
    """Return the commands of the driver and of Ansible on a page, without their comments."""
    return COMMAND.findall(page.read_text())


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_command_is_written_in_one_way(page: Path) -> None:
    lines = [one for one in commands(page) if one.startswith("perfdrv")]
    assert [one for one in lines if " -i " in f"{one} "] == [], "perfdrv has --site"
    assert [one for one in lines if re.match(r"perfdrv toolbox \S*_|perfdrv toolbox \S+ \S*_", one)] == []
    labs = [one for one in lines if one.startswith("perfdrv lab")]
    assert page.name == "lab.md" or labs == [], "the lab has its own program, perflab"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_preset_used_on_a_page_exists_or_is_defined_there(page: Path) -> None:
    known = {path.stem for path in (PROJECT / "presets").glob("*.yml")}
    # A new flow has a preset of its name.
    own = set(re.findall(r"^preset_(\w+):|perfdrv new flow (\w+)", page.read_text(), re.MULTILINE))
    own = {name for names in own for name in names if name}
    used = {name for one in commands(page) for name in re.findall(r"(?:\s-p |--preset |@presets/)([a-z]\w*)", one)}
    assert used <= known | own


def test_table_of_pods_has_each_command_once() -> None:
    section = (PROJECT / "docs/testing.md").read_text().partition("## Pods of commands")[2].partition("\n## ")[0]
    names = re.findall(r"`([a-z]+(?:_[a-z]+)+)`", section)
    roles = PROJECT / "collections/ansible_collections/psap/perf/roles"
    assert names
    assert [name for name in names if not (roles / name).is_dir() or names.count(name) > 1] == []
