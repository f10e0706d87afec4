"""Starts runc in a user namespace: `python runc_rootless.py RUNC ARGUMENT…`; alone, because it starts with each pod.

Such a namespace has one user and no group but its own, and creates no control group: what else a container requests is
taken out of its specification.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any


def main() -> None:
    """Adapt the specification that a command reads, if any, and become runc."""
    runc, *arguments = sys.argv[1:]
    bundle = _value(arguments, "--bundle")
    process = _value(arguments, "--process")
    if bundle is not None:
        _change(Path(bundle, "config.json"), adapt)
    if process is not None:
        _change(Path(process), adapt_process)
    os.execv(runc, [runc, "--rootless=true", *arguments])  # noqa: S606


def adapt(container: dict[str, Any]) -> None:
    """Take out of a container's specification what needs root."""
    for key in ("cgroupsPath", "resources"):
        container["linux"].pop(key, None)
    adapt_process(container["process"])
    container["mounts"] = [each for each in container["mounts"] if each["type"] != "cgroup"]
    for each in container["mounts"]:
        # the group `tty` of terminals
        each["options"] = [option for option in each.get("options") or () if not option.startswith("gid=")]


def adapt_process(process: dict[str, Any]) -> None:
    """Take out of the specification of a process what needs root."""
    process["user"].pop("additionalGids", None)
    process.pop("oomScoreAdj", None)


def _value(arguments: Sequence[str], option: str) -> str | None:
    for number, argument in enumerate(arguments):
        if argument == option:
            return arguments[number + 1]
        if argument.startswith(f"{option}="):
            return argument.partition("=")[2]
    return None


def _change(path: Path, change: Callable[[dict[str, Any]], None]) -> None:
    document = json.loads(path.read_text())
    change(document)
    path.write_text(json.dumps(document))


if __name__ == "__main__":
    main()
