"""Names: a role and its group and command, the directories of a run, and "did you mean" for unknown ones."""

from __future__ import annotations

import difflib
import functools
import re
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType

from ansible_collections.psap.perf.plugins.module_utils.base.documents import read_yaml

_COLLECTION = Path(__file__).resolve().parents[3]
_GROUPS = Path("meta", "groups.yml")
OWN_COLLECTION = "psap.perf"
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


@functools.cache
def other_collections() -> Mapping[str, Path]:
    """Return the folders of other collections with commands, by their names.

    They are beside this collection or in a Python environment's ``ansible_collections``, and have ``meta/groups.yml``.
    """
    folders = dict.fromkeys((_COLLECTION.parents[1], *(Path(entry, "ansible_collections") for entry in sys.path)))
    files = (file for folder in folders for file in sorted(folder.glob(f"*/*/{_GROUPS}")))
    found: dict[str, Path] = {}
    for collection in (file.parents[1] for file in files):
        found.setdefault(f"{collection.parent.name}.{collection.name}", collection)
    found.pop(OWN_COLLECTION, None)
    return MappingProxyType(found)


@functools.cache
def groups() -> Mapping[str, str]:
    """Return the description of each group's commands, by its name, from ``meta/groups.yml`` of all collections.

    Raises:
        PerfError: If a file cannot be read.
    """
    folders = (*other_collections().values(), _COLLECTION)
    return MappingProxyType({group: text for folder in folders for group, text in read_yaml(folder / _GROUPS).items()})


def split_role(role: str) -> tuple[str, str]:
    """Return group and command of a role: ``("nfd", "has_labels")`` for ``nfd_has_labels``, with or without collection.

    A role outside the groups splits at its first underscore.
    """
    short = role.rpartition(".")[2]
    fitting = (group for group in groups() if short.startswith(f"{group}_"))
    group = max(fitting, key=len, default=short.partition("_")[0])
    return group, short.removeprefix(f"{group}_")


def command_directory_name(role: str) -> str:
    """Return ``nfd__has_labels`` for the role ``psap.perf.nfd_has_labels``."""
    return "__".join(split_role(role))


def path_part(text: str) -> str:
    """Return *text* made safe as part of a directory's name."""
    return _UNSAFE.sub("_", text).strip("_") or "_"


def label_value(text: str) -> str:
    """Return *text* as a valid label: its last 63 characters, which distinguish it, other characters replaced."""
    return _UNSAFE.sub("-", text)[-63:].strip("-._")


def nearest(name: str, known: Iterable[str], alike: float = 0.6) -> str | None:
    """Return the known name that is most similar to *name*; None if none shares *alike* of its letters."""
    found = difflib.get_close_matches(name, list(known), n=1, cutoff=alike)
    return found[0] if found else None


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return ``"; did you mean x?"``; empty without a similar name."""
    found = nearest(name, known)
    return f"; did you mean {found}?" if found else ""
