"""Lane A runs one command and then idles while lane B continues: A's command ends at its own end."""

from __future__ import annotations

from pathlib import Path

from ansible_collections.psap.perf.plugins.plugin_utils.command_tracker import CommandTracker, OpenCommand, TaskEnd


def _command(host: str, marker: int, at: str) -> OpenCommand:
    return OpenCommand(Path(f"/{host}{marker}"), f"role{marker}", host, marker, started=at, last=at)


def _recorded_tracker() -> tuple[list[tuple[str, str, str]], CommandTracker]:
    ended: list[tuple[str, str, str]] = []
    return ended, CommandTracker(lambda command: ended.append((command.directory.name, command.last, command.status)))


def test_lane_that_ends_early_keeps_its_end() -> None:
    ended, tracker = _recorded_tracker()
    tracker.open(_command("a", 1, "t0"), [1])
    tracker.open(_command("b", 2, "t0"), [2])
    tracker.task_ended(TaskEnd("a", [1], "t1"))
    for at in ("t2", "t3", "t4"):
        tracker.task_ended(TaskEnd("b", [2], at))
    tracker.close_all()
    assert sorted(ended) == [("a1", "t1", "ok"), ("b2", "t4", "ok")]


def test_outside_task_ends_the_command_at_its_last_task() -> None:
    ended, tracker = _recorded_tracker()
    tracker.open(_command("a", 1, "t0"), [1])
    tracker.task_ended(TaskEnd("a", [1], "t1"))
    assert tracker.task_ended(TaskEnd("a", [], "t9")) is None
    assert ended == [("a1", "t1", "ok")]


def test_next_loop_iteration_ends_the_previous_one() -> None:
    ended, tracker = _recorded_tracker()
    tracker.open(_command("a", 1, "t0"), [1])
    tracker.task_ended(TaskEnd("a", [1], "t1"))
    tracker.open(_command("a", 2, "t2"), [2])
    assert ended == [("a1", "t1", "ok")]


def test_nested_command_ends_first_and_its_failure_is_shared() -> None:
    ended, tracker = _recorded_tracker()
    tracker.open(_command("a", 1, "t0"), [1])
    tracker.open(_command("a", 2, "t1"), [1, 2])
    innermost = tracker.task_ended(TaskEnd("a", [1, 2], "t2", failed=True, error="no"))
    assert innermost is not None
    assert innermost.directory.name == "a2"
    tracker.task_ended(TaskEnd("a", [1], "t3"))
    tracker.close_all()
    assert ended == [("a2", "t2", "failed"), ("a1", "t3", "failed")]


def test_interrupted_task_interrupts_its_command() -> None:
    ended, tracker = _recorded_tracker()
    tracker.open(_command("a", 1, "t0"), [1])
    tracker.task_ended(TaskEnd("a", [1], "t1", failed=True, interrupted=True))
    tracker.close_all()
    assert ended == [("a1", "t1", "interrupted")]
