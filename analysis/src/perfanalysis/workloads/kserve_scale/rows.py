"""The rows of a scale test of KServe: its models, its users, and the test itself."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from typing import Any

from perfanalysis.files.documents import seconds_between
from perfanalysis.files.recording_files import RecordingFiles
from perfanalysis.workloads.kserve_scale.commands import Command
from perfanalysis.workloads.model_start.steps import rows_of

SERVED = ("answered", "loaded")
_PLANNED = ("model", "runtime", "image", "users", "users_as", "models_per_user", "start_interval_s")
Row = dict[str, Any]


def start_of(source: RecordingFiles, deployed: Command) -> tuple[list[Row], Row]:
    """Return the steps of a model's start, and the start; empty if it did not get so far."""
    (document, *_) = [*source.records(f"{deployed.directory}/artifacts/model_start.json", optional=True), {}]
    steps, start = rows_of(document) if document else ([], {})
    named = {"user": deployed.user, "service": deployed.services[0], "name": _name(deployed)}
    return [{**step, **named} for step in steps], start


def answers_of(source: RecordingFiles, asked: Command) -> Iterator[Row]:
    """Return the answers in one command."""
    for name in asked.services:
        for document in source.records(f"{asked.directory}/artifacts/{name}/answers.json", optional=True):
            for answer in document["answers"]:
                yield {"user": asked.user, "service": name, "took_s": answer.get("took_s")}


def model_row(done: Sequence[Command], *, checked: bool) -> dict[str, Any]:
    """Return a model, from its deployment and the check of its answers; joint checks of several models are excluded."""
    first, last = done[0], done[-1]
    outcome = next((one.status for one in done if one.status != "ok"), "answered" if len(done) > 1 else "loaded")
    if checked and outcome == "loaded":
        outcome = "interrupted"
    span = {
        "started_s": first.started_s,
        "ended_s": last.ended_s,
        "took_s": seconds_between(first.started_s, last.ended_s),
    }
    named = {"user": first.user, "service": first.services[0], "name": _name(first)}
    return {**named, "outcome": outcome, **span, "error": next((one.error for one in done if one.error), None)}


def _name(one: Command) -> str:
    return f"{one.user} {one.services[0]}"


def with_intervals(models: Sequence[Row]) -> list[Row]:
    """Return the models with the time since the start of the one before, in the order of their starts."""
    ordered = sorted(range(len(models)), key=lambda place: float(models[place]["started_s"]))
    starts = [float(models[place]["started_s"]) for place in ordered]
    intervals = dict(zip(ordered, (None, *map(operator.sub, starts[1:], starts)), strict=False))
    return [{**model, "interval_s": intervals[place]} for place, model in enumerate(models)]


def user_row(test: dict[str, Any], models: list[dict[str, Any]], done: Sequence[Command], user: str) -> dict[str, Any]:
    """Return a user, from all its commands."""
    own = [one for one in done if one.user == user]
    served = sum(model["user"] == user and model["outcome"] in SERVED for model in models)
    failed = next((one.status for one in own if one.status != "ok"), None)
    complete = "served" if served == test["models_per_user"] else "interrupted"
    started_s, ended_s = min(one.started_s for one in own), _last(one.ended_s for one in own)
    planned_s = (test["started_s"] or 0.0) + test["start_interval_s"] * int(user.removeprefix("u"))
    return {
        "user": user,
        "outcome": failed or complete,
        "models_served": served,
        "started_s": started_s,
        "late_s": round(started_s - planned_s, 3),
        "ended_s": ended_s,
        "took_s": seconds_between(started_s, ended_s),
        "error": next((one.error for one in own if one.error), None),
    }


def test_row(test: dict[str, Any], models: list[dict[str, Any]], users: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the test as a whole; requested models that never began count as not served."""
    started_s, ended_s = test["started_s"], _last(user["ended_s"] for user in users)
    served = sum(model["outcome"] in SERVED for model in models)
    named = {name: test[name] for name in _PLANNED}
    return {
        **named,
        "users_served_ratio": sum(user["outcome"] == "served" for user in users) / test["users"],
        "models_served_ratio": served / (test["users"] * test["models_per_user"]),
        "started_s": started_s,
        "ended_s": ended_s,
        "took_s": seconds_between(started_s, ended_s),
    }


def _last(moments: Any) -> float | None:
    return max((moment for moment in moments if moment is not None), default=None)
