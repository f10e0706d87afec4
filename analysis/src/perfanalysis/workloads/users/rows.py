"""The rows of a test of users: its users, their steps and stretches, its nodes and causes, and the test itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any

from perfanalysis.files.documents import seconds_between

SUCCESS, FAILED, LOST, STOPPED = "success", "failed", "lost", "stopped"
UNKNOWN = "unknown"
SETUP, WAITING, COMMAND = "setup", "waiting for the start", "command"
Row = dict[str, Any]


def user_row(test: Row, user: Row) -> Row:
    """Return a user; `late_s` is the delay of its start against the go and its batch."""
    planned_s, launch_s, end_s = _planned(test, user["index"]), user["launch_at_s"], user["end_at_s"]
    names = ("index", "namespace", "seed", "pod", "node", "exit_code", "outcome", "artifacts")
    # the tables users and moments have parts of it
    return {
        **{name: user[name] for name in names},
        "cause": None if user["outcome"] == SUCCESS else user["cause"] or UNKNOWN,
        "user": user["name"],
        "planned_s": planned_s,
        "setup_s": user["setup_at_s"],
        "ready_s": user["ready_at_s"],
        "launch_s": launch_s,
        "end_s": end_s,
        "prepared_s": seconds_between(user["setup_at_s"], user["ready_at_s"]),
        "waited_s": seconds_between(user["ready_at_s"], launch_s),
        "late_s": seconds_between(planned_s, launch_s),
        "took_s": seconds_between(launch_s, end_s),
    }


def step_rows(user: Row) -> Iterator[Row]:
    """Yield the steps that a user's command reported."""
    for step in user["steps"]:
        yield {
            "user": user["name"],
            "step": step["name"],
            "outcome": _step_outcome(step),
            "begin_s": step["start_s"],
            "end_s": step["end_s"],
            "took_s": seconds_between(step["start_s"], step["end_s"]),
        }


def _step_outcome(step: Row) -> str:
    if step["failed"]:
        return FAILED
    return SUCCESS if step["end_s"] is not None else "not ended"


def progress_rows(user: Row) -> Iterator[Row]:
    """Yield what a user did, without gaps: setup, the wait for the start, then its steps or its command.

    Time of the command outside its steps is `command`. A stretch without an end was not left, as far as known.
    """
    moments = (user["setup_at_s"], user["ready_at_s"], user["launch_at_s"], user["end_at_s"])
    names = (SETUP, WAITING, COMMAND)
    label = user["name"] if user["outcome"] == SUCCESS else f"{user['name']} ({user['outcome']})"
    for name, (begin_s, end_s) in zip(names, pairwise(moments), strict=True):
        if begin_s is None:
            continue
        stretches = _command(user, begin_s, end_s) if name == COMMAND else [(name, begin_s, end_s)]
        # a lost user leaves its stretch at its end, if that is known
        closed = ((step, begin, user["end_at_s"] if end is None else end) for step, begin, end in stretches)
        yield from ({"user": label, "step": step, "begin_s": begin, "end_s": end} for step, begin, end in closed)


def _command(user: Row, begin_s: float, end_s: float | None) -> Iterator[tuple[str, float, float | None]]:
    at: float | None = begin_s
    for step in sorted(user["steps"], key=lambda step: float(step["start_s"])):
        if at is not None and step["start_s"] > at:
            yield COMMAND, at, step["start_s"]
        yield step["name"], step["start_s"], step["end_s"]
        at = step["end_s"]
    if at is not None and (end_s is None or end_s > at):
        yield COMMAND, at, end_s


def node_rows(users: Sequence[Row]) -> list[Row]:
    """Return the nodes with their users, the fullest first; users without a node are left out."""
    found: dict[str, list[Row]] = {}
    for user in users:
        if user["node"] is not None:
            found.setdefault(user["node"], []).append(user)
    return [
        {
            "node": node,
            "users": len(own),
            "succeeded": _count(own, SUCCESS),
            "which": spans_text(user["index"] for user in own),
        }
        for node, own in sorted(found.items(), key=lambda entry: (-len(entry[1]), entry[0]))
    ]


def failure_rows(users: Sequence[Row]) -> list[Row]:
    """Return the causes for which users did not succeed, the most frequent first."""
    found: dict[tuple[str, str], list[Row]] = {}
    for user in users:
        if user["outcome"] != SUCCESS:
            found.setdefault((user["outcome"], user["cause"]), []).append(user)
    return [
        {
            "outcome": outcome,
            "cause": cause,
            "users": len(own),
            "which": spans_text(user["index"] for user in own),
            "nodes": ", ".join(sorted({user["node"] for user in own if user["node"] is not None})) or None,
        }
        for (outcome, cause), own in sorted(found.items(), key=lambda entry: (-len(entry[1]), entry[0]))
    ]


def test_row(test: Row, users: Sequence[Row]) -> Row:
    """Return the test as a whole; requested users without a result count as not successful."""
    late = [user["late_s"] for user in users if user["late_s"] is not None]
    setup_s = min((user["setup_s"] for user in users if user["setup_s"] is not None), default=None)
    end_s = max((user["end_s"] for user in users if user["end_s"] is not None), default=None)
    return {
        "command": test["command"],
        "users": test["user_count"],
        "batch_size": test["batch_size"],
        "batch_delay_s": test["batch_delay_s"],
        "barrier_timeout_s": test["barrier_timeout_s"],
        "success_ratio": _count(users, SUCCESS) / test["user_count"],
        "launched": len([user for user in users if user["launch_s"] is not None]),
        "setup_s": setup_s,
        "go_s": test["go_at_s"],
        "end_s": end_s,
        "assembly_s": seconds_between(setup_s, test["go_at_s"]),
        "start_spread_s": round(max(late) - min(late), 6) if late else None,
        "took_s": seconds_between(test["go_at_s"], end_s),
    }


def spans_text(numbers: Iterable[int]) -> str:
    """Return numbers as a short text such as `0-3, 7`."""
    spans: list[list[int]] = []
    for number in sorted(numbers):
        if spans and number <= spans[-1][1] + 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    return ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in spans)


def _planned(test: Row, index: int) -> float | None:
    if test["go_at_s"] is None:
        return None
    return float(test["go_at_s"] + index // test["batch_size"] * test["batch_delay_s"])


def _count(users: Sequence[Row], outcome: str) -> int:
    return sum(user["outcome"] == outcome for user in users)
