"""A run's directory as a tree of steps."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from perfdrv.runs.tree import RunTree, abandoned


def document(path: Path, **content: Any) -> None:
    """Write a JSON document and create its folders."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content), encoding="utf-8")


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Return a run that prepared in two lanes and is in its second cell."""
    lane = tmp_path / "001__prepare" / "001__lane__gpus" / "001__nfd__wait_gpu_nodes"
    document(lane / "status.json", status="ok", started="2026-01-01T00:00:00Z", ended="2026-01-01T00:00:05Z")
    document(tmp_path / "002__cell__0" / "cell.json", status="failed", values={"n": 1}, name="n=1", error="too far")
    submit = tmp_path / "010__cell__1" / "001__scale_test__submit"
    document(tmp_path / "010__cell__1" / "cell.json", status="running", values={"n": 2}, name="n=2")
    document(submit / "status.json", status="running", started="2026-01-01T00:01:00Z", ended=None, host="sutest")
    document(submit / "waiting.json", what="20 pods", since="2026-01-01T00:01:30Z", timeout_s=60, last="12 ready")
    document(submit / "artifacts" / "progress.json", asked=20, submitted=12)
    (tmp_path / "report").mkdir()
    return tmp_path


def test_groups_lanes_cells_and_commands_nest(run: Path) -> None:
    assert [(step.kind, step.name, step.status) for step in RunTree(run).walk()] == [
        ("group", "prepare", ""),
        ("lane", "gpus", ""),
        ("command", "nfd wait_gpu_nodes", "ok"),
        ("cell", "0", "failed"),
        ("cell", "1", "running"),
        ("command", "scale_test submit", "running"),
    ]


def test_numbers_sort_numerically(tmp_path: Path) -> None:
    for number in (1000, 999, 2):
        (tmp_path / f"{number:03d}__x").mkdir()
    assert [step.number for step in RunTree(tmp_path).steps()] == [2, 999, 1000]


def test_awaited_state_and_progress_are_read(run: Path) -> None:
    *_rest, submit = RunTree(run).walk()
    assert submit.waiting is not None
    assert (submit.waiting.what, submit.waiting.timeout_seconds, submit.waiting.last) == ("20 pods", 60.0, "12 ready")
    assert submit.progress == {"asked": 20, "submitted": 12}


def test_cells_have_values_and_errors(run: Path) -> None:
    cells = [step for step in RunTree(run).steps() if step.kind == "cell"]
    assert [(cell.label, cell.values, cell.error) for cell in cells] == [
        ("n=1", {"n": 1}, "too far"),
        ("n=2", {"n": 2}, ""),
    ]


def test_changed_documents_are_read_again(run: Path) -> None:
    tree = RunTree(run)
    assert [step.status for step in tree.walk()][-1] == "running"
    status = run / "010__cell__1" / "001__scale_test__submit" / "status.json"
    document(status, status="ok")
    *_rest, submit = tree.walk()
    assert (submit.status, submit.waiting) == ("ok", None)


def test_abandoned_run_has_nothing_running(run: Path) -> None:
    steps = [step for top in RunTree(run).steps() for step in abandoned(top).walk()]
    assert [step.status for step in steps] == ["", "", "ok", "failed", "interrupted", "interrupted"]
    assert steps[-1].waiting is None


def test_partial_or_damaged_document_is_no_error(run: Path) -> None:
    (run / "002__cell__0" / "cell.json").write_text('{"status": "fai', encoding="utf-8")
    (run / "001__prepare" / "001__lane__gpus" / "001__nfd__wait_gpu_nodes" / "status.json").write_text("[]")
    assert [step.status for step in RunTree(run).walk()] == ["", "", "", "", "running", "running"]


def test_deleted_run_has_no_steps(tmp_path: Path) -> None:
    assert RunTree(tmp_path / "gone").steps() == ()
