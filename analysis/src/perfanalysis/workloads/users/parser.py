"""Read a test of users: the document users.json."""

from __future__ import annotations

from typing import Any

from perfanalysis.files.documents import mapping
from perfanalysis.files.recording_files import RecordingFiles
from perfanalysis.workloads.users.rows import failure_rows, node_rows, progress_rows, step_rows, test_row, user_row


def parse(source: RecordingFiles) -> dict[str, Any]:
    """Return a row for each user, step, stretch of a user's time, node and cause, and one for the test."""
    (test,) = source.records("users.json")
    listed = [mapping(user) for user in test["users"]]
    users = [user_row(test, user) for user in listed]
    if missing := test["user_count"] - len(users):
        source.find("warning", "users.json", f"{missing} of {test['user_count']} users have no result")
    return {
        "users": users,
        "moments": users,
        "steps": [step for user in listed for step in step_rows(user)],
        "progress": [stretch for user in listed for stretch in progress_rows(user)],
        "nodes": node_rows(users),
        "failures": failure_rows(users),
        "tests": [test_row(test, users)],
    }
