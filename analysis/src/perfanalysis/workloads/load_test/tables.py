"""The tables of a load test, for any load generator.

A stage is a time of constant load: guidellm has one for each rate, llm-load-test has only one.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from perfanalysis.files.tables import Column, TableSpec

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

COMPLETED, FAILED, CANCELLED = OUTCOMES = ("completed", "failed", "cancelled")
LONGEST_ERROR = 400
"""Texts of exceptions have their cause at the end."""
_ADDRESS = re.compile("0x[0-9a-fA-F]{6,}")
REQUESTS = TableSpec(
    "requests",
    "One row per request that the load generator recorded",
    (
        Column("stage", "integer", "stage of the load, from 0"),
        Column("outcome", "text", "completed, failed, or cancelled at the end of the load"),
        Column("started_s", "time", "when it was sent"),
        Column("ended_s", "time", "when its answer was complete, or failed"),
        Column("latency_s", "number", "from sending to its end", "s"),
        Column("ttft_s", "number", "to its first token; null if the answer was not streamed", "s"),
        Column("itl_s", "number", "mean time between its tokens, without the first", "s"),
        Column("tpot_s", "number", "time for each of its tokens, with the first", "s"),
        Column("input_tokens", "number", "tokens of the prompt", "tokens"),
        Column("output_tokens", "number", "tokens of the answer", "tokens"),
        Column("cached_tokens", "number", "tokens of the prompt that the server read from its cache", "tokens"),
        Column("reasoning_tokens", "number", "tokens of the answer that are reasoning", "tokens"),
        Column("session", "number", "number of its conversation, from 0, in the order of the records"),
        Column("turn", "number", "number of the turn in its conversation, from 1"),
        Column("error", "text", "why it failed"),
    ),
)
STAGES = TableSpec(
    "load_stages",
    "One row per stage of the load, as the generator states it",
    (
        Column("stage", "integer", "number, from 0"),
        Column("load", "text", "the load, such as 8 users"),
        Column("concurrency", "number", "concurrent requests; null if a rate was set instead", "requests"),
        Column("rate", "number", "requests sent per second; null if a concurrency was set", "requests/s"),
        Column("model", "text", "requested model"),
        Column("stated_duration_s", "number", "how long it was", "s"),
    ),
)
STATED = TableSpec(
    "stated_summary",
    "One row per number of the generator's own summary that its records allow to compute",
    (
        Column("stage", "integer", "stage"),
        Column("measure", "text", "what it describes"),
        Column("statistic", "text", "which statistic"),
        Column("stated", "number", "as the generator states it; times in seconds"),
        Column("low", "number", "lowest value that its records allow"),
        Column("high", "number", "highest value that its records allow"),
        Column("agrees", "flag", "whether it lies between them"),
    ),
)
NUMBERS = tuple(column.name for column in REQUESTS.columns if column.kind in ("number", "time"))


@dataclass(frozen=True)
class LoadTables:
    """The recording of a load generator."""

    requests: pd.DataFrame = field(metadata={"table": REQUESTS})
    stages: pd.DataFrame = field(metadata={"table": STAGES})
    stated: pd.DataFrame = field(metadata={"table": STATED})


def finite_values(requests: pd.DataFrame, column: str) -> NDArray[np.float64]:
    """Return the known values of a column of requests."""
    found: NDArray[np.float64] = requests[column].to_numpy(dtype=float)
    known: NDArray[np.float64] = found[np.isfinite(found)]
    return known


@dataclass(frozen=True)
class Times:
    """When a request was sent, got its first and last token, and ended: s since the epoch, 0 if unknown."""

    started: float
    first: float
    last: float
    ended: float


class Tokens(NamedTuple):
    """Tokens of a prompt and its answer, and those of them that were cached or are reasoning; NaN if unknown."""

    prompt: float
    answer: float
    cached: float = np.nan
    reasoning: float = np.nan


class Turn(NamedTuple):
    """Any number that identifies a conversation, and the number of the turn from 1; NaN if unknown."""

    session: float = np.nan
    number: float = np.nan


NO_TURN = Turn()


def turn_of(session: float | None, index: float | None) -> Turn:
    """Return the turn of a request from its index, which counts from 0."""
    return Turn(np.nan if session is None else session, np.nan if index is None else index + 1)


class RequestColumns:
    """Requests as they are read, one column of numbers each: a million of them are some 100 MB."""

    def __init__(self) -> None:
        self.lists = array("q")
        self.outcomes = array("b")
        self.errors: dict[int, str] = {}
        self._numbers = array("d")

    def add(
        self, of_list: int, outcome: int, times: Times, tokens: Tokens, error: str | None, turn: Turn = NO_TURN
    ) -> None:
        """Add one request."""
        started, first, last, ended = times.started, times.first, times.last, times.ended
        output = tokens.answer
        latency = ended - started if started > 0 and ended > 0 else np.nan
        ttft = first - started if first > 0 and started > 0 else np.nan
        itl = (last - first) / (output - 1) if first > 0 and last > 0 and output > 1 else np.nan
        tpot = (last - started) / output if last > 0 and started > 0 and output > 0 else np.nan
        if error:
            # addresses of objects are meaningless, and would distinguish equal errors
            self.errors[len(self.lists)] = _ADDRESS.sub("0x…", error)[:LONGEST_ERROR]
        self.lists.append(of_list)
        self.outcomes.append(outcome)
        self._numbers.extend((started or np.nan, ended or np.nan, latency, ttft, itl, tpot, *tokens, *turn))

    def frame(self, stages: Sequence[int], outcomes: Sequence[int]) -> pd.DataFrame:
        """Return the table; for each list its stage, and its outcome, where -1 means the list's outcome."""
        import pandas as pd

        lists = np.frombuffer(self.lists, dtype=np.int64)
        own = np.frombuffer(self.outcomes, dtype=np.int8)
        ended: NDArray[np.int64] = np.where(own < 0, np.array([*outcomes, 0], dtype=np.int64)[lists], own)
        table = np.frombuffer(self._numbers, dtype=np.float64).reshape(-1, len(NUMBERS))
        columns: dict[str, object] = {name: table[:, place] for place, name in enumerate(NUMBERS)}
        numbers, _ids = pd.factorize(table[:, NUMBERS.index("session")])
        columns["session"] = np.where(numbers < 0, np.nan, numbers)
        errors = np.full(len(lists), None, dtype=object)
        for place, text in self.errors.items():
            errors[place] = text
        columns |= {
            "stage": np.array([*stages, 0], dtype=np.int64)[lists],
            "outcome": pd.Categorical.from_codes(ended.astype(np.int8), dtype=pd.CategoricalDtype(list(OUTCOMES))),
            "error": pd.Categorical(errors),
        }
        return REQUESTS.conform(pd.DataFrame(columns))
