"""Read a scale test of KServe: users that deploy models, from the documents of their commands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from perfanalysis.files.documents import parse_time
from perfanalysis.files.source import Source
from perfanalysis.workloads.kserve_scale.commands import DEPLOY, VALIDATE, Command, commands
from perfanalysis.workloads.model_start.parser import rows_of

SERVED = ("answered", "loaded")


def parse(source: Source) -> dict[str, Any]:
    """A row for each user, model, step of a start and answer, and one for the test."""
    (test,) = source.records("kserve_scale.json")
    deployed, asked = list(commands(source, DEPLOY)), list(commands(source, VALIDATE))
    models, steps = [], []
    for one in deployed:
        (document, *_) = [*source.records(f"{one.directory}/artifacts/model_start.json", optional=True), {}]
        its_steps, start = rows_of(document) if document else ([], {})
        checks = [check for check in asked if (check.user, check.services) == (one.user, one.services)]
        models.append({**start, **_model([one, *checks], checked=test["answers_checked"])})
        steps += [{**step, "user": one.user, "service": one.services[0]} for step in its_steps]
    users = [_user(test, models, [*deployed, *asked], user) for user in dict.fromkeys(one.user for one in deployed)]
    answers = [
        {"user": one.user, "service": name, "took_s": answer.get("took_s")}
        for one in asked
        for name in one.services
        for told in source.records(f"{one.directory}/artifacts/{name}/answers.json", optional=True)
        for answer in told["answers"]
    ]
    return {"models": models, "steps": steps, "users": users, "answers": answers, "tests": [_test(test, models, users)]}


def _model(done: Sequence[Command], *, checked: bool) -> dict[str, Any]:
    """A model, from its deployment and the check of its answers; a joint check is none of one model."""
    first, last = done[0], done[-1]
    outcome = next((one.status for one in done if one.status != "ok"), "answered" if len(done) > 1 else "loaded")
    if checked and outcome == "loaded":
        outcome = "interrupted"
    span = {"started_s": first.started_s, "ended_s": last.ended_s, "took_s": _between(first.started_s, last.ended_s)}
    named = {"user": first.user, "service": first.services[0], "name": f"{first.user} {first.services[0]}"}
    return {**named, "outcome": outcome, **span, "error": next((one.error for one in done if one.error), None)}


def _user(test: dict[str, Any], models: list[dict[str, Any]], done: Sequence[Command], user: str) -> dict[str, Any]:
    own = [one for one in done if one.user == user]
    served = sum(model["user"] == user and model["outcome"] in SERVED for model in models)
    failed = next((one.status for one in own if one.status != "ok"), None)
    complete = "served" if served == test["models_per_user"] else "interrupted"
    started_s, ended_s = min(one.started_s for one in own), _last(one.ended_s for one in own)
    planned_s = (parse_time(test["started"]) or 0.0) + test["start_interval_s"] * int(user.removeprefix("u"))
    return {
        "user": user,
        "outcome": failed or complete,
        "models_served": served,
        "started_s": started_s,
        "late_s": round(started_s - planned_s, 3),
        "ended_s": ended_s,
        "took_s": _between(started_s, ended_s),
        "error": next((one.error for one in own if one.error), None),
    }


def _test(test: dict[str, Any], models: list[dict[str, Any]], users: list[dict[str, Any]]) -> dict[str, Any]:
    """The test as a whole; what was asked for and never began counts as not served."""
    started_s, ended_s = parse_time(test["started"]), _last(user["ended_s"] for user in users)
    served = sum(model["outcome"] in SERVED for model in models)
    named = {name: test[name] for name in ("model", "runtime", "image", "users", "models_per_user", "start_interval_s")}
    return {
        **named,
        "users_served_ratio": sum(user["outcome"] == "served" for user in users) / test["users"],
        "models_served_ratio": served / (test["users"] * test["models_per_user"]),
        "started_s": started_s,
        "ended_s": ended_s,
        "took_s": _between(started_s, ended_s),
    }


def _last(moments: Any) -> float | None:
    return max((moment for moment in moments if moment is not None), default=None)


def _between(begin_s: float | None, end_s: float | None) -> float | None:
    return None if begin_s is None or end_s is None else round(end_s - begin_s, 3)
