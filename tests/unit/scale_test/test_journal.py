"""Journals: complete lines, without credentials in the messages of other programs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from ansible_collections.psap.perf.plugins.module_utils.scale_test.base.journal import Follower, Journal

from tests.data.credentials import PLANTED


@pytest.mark.parametrize("texts", [None, ("reason", "message")])
def test_rows_hold_no_credentials(tmp_path: Path, texts: tuple[str, ...] | None) -> None:
    path = tmp_path / "rows.jsonl"
    journal = Journal(path, texts)
    for index, planted in enumerate(PLANTED.values()):
        journal.append({"index": index, "reason": None, "message": f"it said: {planted.text}"})
        journal.append({"index": index, "reason": None, "message": None})
    journal.close()
    written = path.read_text()
    assert [part for planted in PLANTED.values() for part in planted.secret if part in written] == []
    rows = [json.loads(line) for line in written.splitlines()]
    assert [row["index"] for row in rows] == [index for index in range(len(PLANTED)) for _twice in range(2)]
    assert Follower(path).rows() == rows
