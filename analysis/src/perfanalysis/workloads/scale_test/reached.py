"""When things were reached: rows of transitions and events as arrays, and the first or n-th time of a word in them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

Times = tuple["NDArray[np.float64]", "NDArray[np.float64]", "NDArray[np.float64]"]
"""Seen on the client's clock, the server's stamp, the stamp's resolution."""


@dataclass(frozen=True)
class Stream:
    """Rows in the order of time: the place of the workload, the object, the word (as a code), and the times.

    Large recordings have a million rows: each array is made once and nothing of them is copied.
    """

    place: NDArray[np.int32]
    object: NDArray[np.int32]
    word: NDArray[np.int16]
    row: NDArray[np.intp]
    words: Mapping[str, int]
    times: Times

    def first(self, word: str, count: int) -> Times:
        """The first time of a word, for each of `count` workloads; NaN where it has none."""
        chosen = self._of(word)
        places, first = np.unique(self.place[chosen], return_index=True)
        return self._spread(places, chosen[first], count)

    def last_needed(self, word: str, needed: NDArray[np.float64]) -> Times:
        """When as many objects as needed had reached a word, each counted once, at its first time."""
        chosen = self._once_each(word)
        places = self.place[chosen]
        by_place = np.argsort(places, kind="stable")
        ordered = places[by_place]
        rank = np.arange(len(ordered)) - np.searchsorted(ordered, ordered, side="left")
        hit = rank == needed[ordered] - 1
        return self._spread(ordered[hit], chosen[by_place[hit]], len(needed))

    def objects(self, word: str, count: int) -> NDArray[np.float64]:
        """How many objects reached a word, for each workload; NaN where none did."""
        seen = np.bincount(self.place[self._once_each(word)], minlength=count).astype(float)
        return np.where(seen > 0, seen, np.nan)

    def _of(self, word: str) -> NDArray[Any]:
        return np.flatnonzero(self.word == self.words.get(word, -2))

    def _once_each(self, word: str) -> NDArray[Any]:
        chosen = self._of(word)
        return chosen[np.sort(np.unique(self.object[chosen], return_index=True)[1])]

    def _spread(self, places: NDArray[Any], chosen: NDArray[Any], count: int) -> Times:
        if not len(chosen):
            return nothing(count)
        seen, server, resolution = (np.full(count, np.nan) for _ in range(3))
        for values, given in zip((seen, server, resolution), self.times, strict=True):
            values[places] = given[self.row[chosen]]
        return seen, server, resolution


@lru_cache(maxsize=1)
def nothing(count: int) -> Times:
    """What nobody reached: one array for all of it, which cannot be written."""
    missing = np.full(count, np.nan)
    missing.setflags(write=False)
    return missing, missing, missing


@dataclass(frozen=True)
class Rows:
    """Some rows of a table, and what some of their words are called among milestones (all, when nothing is given)."""

    rows: NDArray[np.bool_]
    names: Mapping[str, str] | None = None


def stream(frame: pd.DataFrame, place: NDArray[np.int32], parts: Sequence[Rows], *, word: str, of: str) -> Stream:
    """The parts of a table as one stream. `word` and `of` are the columns of the word and the object's identity."""
    words = frame[word].cat
    known = {str(name): code for code, name in enumerate(words.categories)}
    every = {**known, **{name: len(known) + new for new, name in enumerate(_new_names(parts, known))}}
    codes = words.codes.to_numpy()
    rows, spoken = [], []
    for part in parts:
        chosen = np.flatnonzero(part.rows & (place >= 0))
        renamed = [_renamed(str(name), part.names, every) for name in words.categories]
        rows.append(chosen)
        # the last one is that of rows without a word
        spoken.append(np.array([*renamed, -1], dtype=np.int16)[codes[chosen]])
    row = np.concatenate(rows)
    times: Any = tuple(frame[name].to_numpy(dtype=float) for name in ("seen_s", "server_s", "resolution_s"))
    order = np.argsort(times[0][row], kind="stable")
    row = row[order]
    identity = frame[of].cat.codes.to_numpy()[row].astype(np.int32)
    return Stream(place[row], identity, np.concatenate(spoken)[order], row, every, times)


def _new_names(parts: Sequence[Rows], known: Mapping[str, int]) -> list[str]:
    """Names of milestones that no row bears itself."""
    given = (name for part in parts for name in (part.names or {}).values())
    return [name for name in dict.fromkeys(given) if name not in known]


def _renamed(name: str, names: Mapping[str, str] | None, every: Mapping[str, int]) -> int:
    meant = name if names is None else names.get(name)
    return -1 if meant is None else every[meant]
