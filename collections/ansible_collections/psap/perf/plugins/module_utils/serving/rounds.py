"""The completed rounds of a cell with repeated loads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import count
from pathlib import Path
from typing import NamedTuple

from ansible_collections.psap.perf.plugins.module_utils.base.documents import read_json
from ansible_collections.psap.perf.plugins.module_utils.serving.load_search import completed_loads


class _Part(NamedTuple):
    """The loads of one model in one round, by one attempt: a resumed run repeats all loads of a round."""

    flavor: str
    round: int
    attempt: int


def completed_rounds(directory: Path, cell: int, loads: Mapping[str, int], markers: Iterable[str]) -> int:
    """Return how many rounds of a cell all models have completed, in all attempts at the cell.

    Args:
        directory: The directory of the run.
        loads: Number of loads of each model in a round, by flavor.
        markers: Names of the documents beside the results of load generators.
    """
    ended = Counter(_ended(directory, cell, tuple(markers)))
    complete = {(part.flavor, part.round) for part, number in ended.items() if number >= loads.get(part.flavor, 1)}
    flavors = [flavor for flavor, number in loads.items() if number]
    if not flavors:
        return 0
    return next(number for number in count() if any((flavor, number + 1) not in complete for flavor in flavors))


def _ended(directory: Path, cell: int, markers: tuple[str, ...]) -> Iterator[_Part]:
    """Yield the part of a round that each successful load belongs to."""
    for command in completed_loads(directory, cell):
        for marker in markers:
            path = command / "artifacts" / marker
            load = read_json(path) if path.exists() else {}
            if load.get("round"):
                attempt = read_json(command / "status.json")["attempt"]
                yield _Part(str(load["flavor"]), int(load["round"]), int(attempt))
