"""Messages about a program that ended."""

from __future__ import annotations

from pathlib import Path

from perflab.processes.launch import advice


def test_system_limit_is_named_with_a_remedy(tmp_path: Path) -> None:
    limit = tmp_path / "max_user_instances"
    limit.write_text("128\n")
    message = advice('{"level":"error","error":"too many open files"}', limit)
    assert "one user 128 file watches (fs.inotify.max_user_instances)" in message
    assert "perflab status" in message
    assert advice("something else went wrong", limit) == ""
