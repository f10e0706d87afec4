"""The completed rounds of a cell with repeated loads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from ansible_collections.psap.perf.plugins.module_utils.base.documents import command_files, read_json

MARKER = "artifacts/llm_load_test.json"


def completed_rounds(directory: Path, cell: int, loads: Mapping[str, int]) -> int:
    """Return how many rounds of a cell all models have completed, in all attempts at the cell.

    Rounds follow each other, so they follow from the number of a model's loads.

    Args:
        directory: The directory of the run, or of the cell if it has a separate process.
        loads: Number of loads of each model in a round, by flavor.
    """
    ended = Counter(_ended(directory, cell))
    return min((ended[flavor] // number for flavor, number in loads.items() if number), default=0)


def _ended(directory: Path, cell: int) -> Iterator[str]:
    """Yield the flavor of each successful load of a round."""
    for path in command_files(directory, "status.json"):
        status, marker = read_json(path), path.parent / MARKER
        if (status["cell"], status["status"]) == (cell, "ok") and marker.exists():
            load = read_json(marker)
            if load.get("round"):
                yield str(load["flavor"])
