"""Names: a role and its group and command, the directories of a run, and "did you mean" for unknown ones."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable

# The reference's groups; a role is <group>_<command>, and some groups have an underscore of their own.
GROUPS = (
    "benchmarking",
    "busy_cluster",
    "cluster",
    "container_bench",
    "cpt",
    "crc",
    "entitlement",
    "fine_tuning",
    "gpu_operator",
    "jump_ci",
    "kepler",
    "kserve",
    "kubemark",
    "kwok",
    "llm_load_test",
    "llmd",
    "load_aware",
    "local_ci",
    "mac_ai",
    "nfd",
    "nfd_operator",
    "notebooks",
    "pipelines",
    "quads",
    "remote",
    "repo",
    "rhods",
    "scale_test",
    "scheduler",
    "server",
    "storage",
    "wisdom",
)
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


def split_role(role: str) -> tuple[str, str]:
    """Group and command of a role, with or without its collection: ``nfd_has_labels`` → ``("nfd", "has_labels")``.

    A role outside the groups splits at its first underscore.
    """
    short = role.rpartition(".")[2]
    for group in sorted(GROUPS, key=len, reverse=True):
        if short.startswith(group + "_") and len(short) > len(group) + 1:
            return group, short[len(group) + 1 :]
    group, _underscore, command = short.partition("_")
    return group, command or group


def command_directory_name(role: str) -> str:
    """``nfd__has_labels`` for the role ``psap.perf.nfd_has_labels``."""
    return "__".join(split_role(role))


def path_part(text: str) -> str:
    """*text* made safe as part of a directory's name."""
    return _UNSAFE.sub("_", text).strip("_") or "_"


def nearest(name: str, known: Iterable[str], alike: float = 0.6) -> str | None:
    """The known name that *name* most resembles, if any does by the share *alike* of its letters."""
    found = difflib.get_close_matches(name, list(known), n=1, cutoff=alike)
    return found[0] if found else None


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """``"; did you mean x?"``, or nothing."""
    found = nearest(name, known)
    return f"; did you mean {found}?" if found else ""
