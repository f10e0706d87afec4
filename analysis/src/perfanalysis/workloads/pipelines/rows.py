"""The rows of a test of pipelines: its runs, their steps, the states over time, and the test itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from perfanalysis.files.documents import mapping, seconds_between

SUCCEEDED = "Succeeded"
STATES = ("pending", "running", "succeeded", "failed")
Row = dict[str, Any]


def tables_of(test: Row) -> dict[str, list[Row]]:
    """Return every table of pipelines.json."""
    listed = [mapping(run) for run in test["runs"]]
    runs = [run_row(run) for run in listed]
    return {
        "runs": runs,
        "moments": [moments_row(run) for run in listed],
        "steps": [step for run in listed for step in step_rows(run)],
        "states": [state for sample in test["state"] for state in state_rows(sample)],
        "failures": failure_rows(runs),
        "tests": [test_row(runs)],
    }


def run_row(run: Row) -> Row:
    """Return a run; its latency is the time from its creation to the start of its workflow."""
    names = ("project", "run", "number", "created_s", "started_s", "finished_s", "phase", "message")
    return {
        **{name: run[name] for name in names},
        "user": f"user {run['user']}",
        "latency_s": seconds_between(run["created_s"], run["started_s"]),
        "duration_s": seconds_between(run["started_s"], run["finished_s"]),
        "whole_s": seconds_between(run["created_s"], run["finished_s"]),
    }


def moments_row(run: Row) -> Row:
    """Return the times of a run."""
    outcome = "" if run["phase"] == SUCCEEDED else f" ({run['phase']})"
    return {
        **{name: run[name] for name in ("workflow", "created_s", "started_s", "finished_s")},
        "user": f"user {run['user']}",
        "run": f"{run['project']} {run['run']}{outcome}",
    }


def step_rows(run: Row) -> Iterator[Row]:
    """Yield the steps of a run."""
    for step in run["steps"]:
        yield {
            "user": f"user {run['user']}",
            "project": run["project"],
            "run": run["run"],
            "number": run["number"],
            "step": step["name"],
            "phase": step["phase"],
            "begin_s": step["start_s"],
            "end_s": step["end_s"],
            "took_s": seconds_between(step["start_s"], step["end_s"]),
        }


def state_rows(sample: Row) -> Iterator[Row]:
    """Yield a row for each state of a sample; unknown numbers are left out."""
    for state in (*STATES, "reconciles"):
        if sample[state] is not None:
            yield {"at_s": sample["at_s"], "state": state, "runs": sample[state]}


def failure_rows(runs: Sequence[Row]) -> list[Row]:
    """Return the phases and messages of runs that did not succeed, the most frequent first."""
    found: dict[tuple[str, str], list[Row]] = {}
    for run in runs:
        if run["phase"] != SUCCEEDED:
            found.setdefault((run["phase"], run["message"] or "no message"), []).append(run)
    return [
        {"phase": phase, "message": message, "runs": len(own), "first": f"{own[0]['project']} {own[0]['run']}"}
        for (phase, message), own in sorted(found.items(), key=lambda entry: (-len(entry[1]), entry[0]))
    ]


def test_row(runs: Sequence[Row]) -> Row:
    """Return the test as a whole."""
    created_s = min((run["created_s"] for run in runs if run["created_s"] is not None), default=None)
    finished_s = max((run["finished_s"] for run in runs if run["finished_s"] is not None), default=None)
    succeeded = sum(run["phase"] == SUCCEEDED for run in runs)
    return {
        "users": len({run["user"] for run in runs}),
        "projects": len({run["project"] for run in runs}),
        "runs": len(runs),
        "runs_per_user": max((run["number"] for run in runs), default=None),
        "success_ratio": succeeded / len(runs) if runs else None,
        "created_s": created_s,
        "finished_s": finished_s,
        "took_s": seconds_between(created_s, finished_s),
    }
