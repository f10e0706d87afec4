"""How far the repeated loads of a cell have come."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from ansible_collections.psap.perf.plugins.module_utils.base.documents import command_files, read_json

MARKER = "artifacts/llm_load_test.json"


def finished_rounds(directory: Path, cell: int, loads: Mapping[str, int]) -> int:
    """How many rounds of a cell are finished by all models, in all attempts at it.

    Rounds follow each other, so the number of a model's loads says how many it has finished.

    :param directory: that of the run, or of the cell, if it is a process of its own.
    :param loads: how many loads a round of each model has, by its flavor.
    """
    ended = Counter(_ended(directory, cell))
    return min((ended[flavor] // number for flavor, number in loads.items() if number), default=0)


def _ended(directory: Path, cell: int) -> Iterator[str]:
    """The flavor of each load of a round that has ended well."""
    for path in command_files(directory, "status.json"):
        status, marker = read_json(path), path.parent / MARKER
        if (status["cell"], status["status"]) == (cell, "ok") and marker.exists():
            load = read_json(marker)
            if load.get("round"):
                yield str(load["flavor"])
