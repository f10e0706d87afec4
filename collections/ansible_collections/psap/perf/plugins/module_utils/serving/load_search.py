"""The search for the highest load that a served model sustains within limits."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.documents import command_files, read_json

_COMMANDS = ("serving_run_load", "llm_load_test_run")


@dataclass(frozen=True, slots=True)
class Bounds:
    """The numbers of users to search, and the largest number of loads."""

    lowest: int
    highest: int
    most_loads: int

    def next_users(self, held: Mapping[int, bool]) -> int | None:
        """Return the number of users of the next load; None if the search has ended.

        The search begins with both bounds. Then it bisects by the geometric mean, because latencies grow with the
        ratio of loads. It assumes that a load above one that missed a limit misses it, too.

        Args:
            held: Whether each load was within the limits, by its number of users.
        """
        if len(held) >= self.most_loads:
            return None
        if self.lowest not in held:
            return self.lowest
        if not held[self.lowest]:
            return None
        if self.highest not in held:
            return self.highest
        missed = min((users for users, within in held.items() if not within), default=None)
        if missed is None:
            return None
        best = max(users for users, within in held.items() if within and users < missed)
        return _between(best, missed) if missed - best > 1 else None


def _between(low: int, high: int) -> int:
    """Return a whole number between both, near their geometric mean."""
    return min(max(round(math.sqrt(low * high)), low + 1), high - 1)


def completed_loads(directory: Path, cell: int) -> list[Path]:
    """Return the directory of each load of a cell that succeeded, in all attempts at the cell.

    Args:
        directory: The directory of the entire run: a cell with a separate process has another one in each attempt.
    """
    return [path.parent for path in command_files(directory, "status.json") if _is_load(read_json(path), cell)]


def judge_new(
    directories: Iterable[Path], judged: Mapping[str, Mapping[str, Any]], judge: Callable[[Path], Mapping[str, Any]]
) -> dict[str, Mapping[str, Any]]:
    """Return the row of each load by its directory; only loads that are not in *judged* are judged."""
    return {str(path): judged.get(str(path)) or judge(path) for path in directories}


def _is_load(status: Mapping[str, Any], cell: int) -> bool:
    return (status["cell"], status["status"]) == (cell, "ok") and status["role"] in _COMMANDS
