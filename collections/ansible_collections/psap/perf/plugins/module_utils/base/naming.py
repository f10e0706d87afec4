"""Names: a role and its group and command, the directories of a run, and "did you mean" for unknown ones."""

from __future__ import annotations

import difflib
import functools
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType

from ansible_collections.psap.perf.plugins.module_utils.base.documents import read_yaml

_GROUPS = Path(__file__).resolve().parents[3] / "meta" / "groups.yml"
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


@functools.cache
def groups() -> Mapping[str, str]:
    """What the commands of each group do, by the group's name: ``meta/groups.yml`` of the collection.

    :raises PerfError: when that cannot be read.
    """
    return MappingProxyType(read_yaml(_GROUPS))


def split_role(role: str) -> tuple[str, str]:
    """Group and command of a role, with or without its collection: ``nfd_has_labels`` → ``("nfd", "has_labels")``.

    A role outside the groups splits at its first underscore.
    """
    short = role.rpartition(".")[2]
    fitting = (group for group in groups() if short.startswith(f"{group}_"))
    group = max(fitting, key=len, default=short.partition("_")[0])
    return group, short.removeprefix(f"{group}_")


def command_directory_name(role: str) -> str:
    """``nfd__has_labels`` for the role ``psap.perf.nfd_has_labels``."""
    return "__".join(split_role(role))


def path_part(text: str) -> str:
    """*text* made safe as part of a directory's name."""
    return _UNSAFE.sub("_", text).strip("_") or "_"


def label_value(text: str) -> str:
    """*text* as a label may hold it: 63 characters of a small alphabet; the end, which differs, is kept."""
    return _UNSAFE.sub("-", text)[-63:].strip("-._")


def nearest(name: str, known: Iterable[str], alike: float = 0.6) -> str | None:
    """The known name that *name* most resembles, if any does by the share *alike* of its letters."""
    found = difflib.get_close_matches(name, list(known), n=1, cutoff=alike)
    return found[0] if found else None


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """``"; did you mean x?"``, or nothing."""
    found = nearest(name, known)
    return f"; did you mean {found}?" if found else ""
