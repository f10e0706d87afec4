# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""TOPSAIL's commands and their replacements: ``meta/topsail.yml`` of the collection."""

from __future__ import annotations

import functools
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.documents import read_yaml
from ansible_collections.psap.perf.plugins.module_utils.base.naming import split_role

_FILE = Path(__file__).resolve().parents[3] / "meta" / "topsail.yml"


@dataclass(frozen=True, slots=True)
class FormerCommand:
    """A command of TOPSAIL.

    Attributes:
        role: The role that replaces it, which may not exist yet; None if no role does.
        instead: The replacement to type, with code between backticks; empty if a role replaces it or nothing does.
        never: The reason why nothing replaces it; empty otherwise.
        options: The replacements of its options, by their names.
    """

    group: str
    command: str
    role: str | None
    instead: str = ""
    never: str = ""
    options: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Concept:
    """A concept of TOPSAIL, its replacement, and the page below docs that describes that."""

    was: str
    today: str
    page: str


@functools.cache
def former_commands() -> Mapping[tuple[str, str], FormerCommand]:
    """Return every command by its group and name.

    Raises:
        PerfError: If the file cannot be read.
    """
    table: dict[str, dict[str, dict[str, Any] | None]] = read_yaml(_FILE)["commands"]
    known = (_former(group, name, entry or {}) for group, names in table.items() for name, entry in names.items())
    return MappingProxyType({(former.group, former.command): former for former in known})


def _former(group: str, name: str, entry: Mapping[str, Any]) -> FormerCommand:
    role = entry.get("role", None if {"instead", "never"} & set(entry) else f"{group}_{name}")
    return FormerCommand(group, name, role, entry.get("instead", ""), entry.get("never", ""), entry.get("options", {}))


@functools.cache
def concepts() -> tuple[Concept, ...]:
    """Return every concept, in the order of the file.

    Raises:
        PerfError: If the file cannot be read.
    """
    return tuple(Concept(entry["was"], entry["is"], entry["page"]) for entry in read_yaml(_FILE)["concepts"])


def answer(words: Sequence[str], roles: Collection[str]) -> str | None:
    """Return lines with the replacement of a TOPSAIL command line; None if TOPSAIL has no such command either.

    Args:
        words: The words after ``perfdrv toolbox``, such as ``("configure", "apply", "--preset", "x")``.
        roles: The existing roles.
    """
    group, *names = [word.replace("-", "_") for word in words if not word.startswith("-")] or [""]
    of_group = {former.command: former for former in former_commands().values() if former.group == group}
    if names and names[0] in of_group:
        return _replacement(of_group[names[0]], names[1:], words, roles)
    if not of_group or any(role.startswith(f"{group}_") for role in roles):
        return None
    if len(of_group) == 1:
        (former,) = of_group.values()
        return _replacement(former, names, words, roles)
    lines = [f"  {former.command}: {_sentence(former, roles)}" for former in of_group.values()]
    return "\n".join([f"{group} is a group of commands of TOPSAIL. Today they are:", *lines])


def _replacement(former: FormerCommand, names: Sequence[str], words: Sequence[str], roles: Collection[str]) -> str:
    sentence = _sentence(former, roles)
    if len(names) > 1:
        # the command that it ran
        sentence = sentence.replace("GROUP COMMAND", " ".join(names[:2]).replace("_", "-"))
    given = {word.lstrip("-").partition("=")[0].replace("-", "_") for word in words if word.startswith("-")}
    options = [f"  --{name}: {_plain(today)}" for name, today in former.options.items() if name in given]
    return "\n".join([f"{former.group} {former.command} of TOPSAIL: {sentence}", *options])


def _sentence(former: FormerCommand, roles: Collection[str]) -> str:
    if former.role is None:
        return f"not available, {_plain(former.never)}." if former.never else f"today {_plain(former.instead)}."
    if former.role not in roles:
        return f"planned, there is no role psap.perf.{former.role} yet."
    return f"today perfdrv toolbox {' '.join(split_role(former.role)).replace('_', '-')}."


def _plain(text: str) -> str:
    return text.replace("`", "")
