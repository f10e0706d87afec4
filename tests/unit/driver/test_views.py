"""The output of a run: dated lines, and the live view."""

from __future__ import annotations

import datetime
import io
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from perfdrv.ansible.worker import AnsibleEvent
from perfdrv.execution.follow import Follower
from perfdrv.execution.interrupts import Interrupts
from perfdrv.runs.bookings import Booking
from perfdrv.runs.durations import duration_text, parse, seconds_between, step_seconds, when_text
from perfdrv.runs.tree import Step, Waiting
from perfdrv.views.live import LiveView, steps_table
from perfdrv.views.plain import PlainView
from perfdrv.views.remarks import awaited_text, progress_text, remark_text, table_lines
from perfdrv.views.scene import Activity, Scene, SurvivingView
from rich.console import Console

NOW = datetime.datetime(2026, 1, 1, 0, 1, tzinfo=datetime.UTC)
RUN = Path("/runs/demo-1")
SLEEP = Step(RUN / "001__demo__sleep", 1, "command", "demo sleep", status="running", started="2026-01-01T00:00:30Z")
WAITING = replace(SLEEP, waiting=Waiting("20 pods", "2026-01-01T00:00:40Z", 90.0, "12 ready"))


@pytest.fixture
def scene() -> Scene:
    """Return a scene without steps."""
    return Scene(flow="demo", site="lab", directory=RUN)


def lines(stream: io.StringIO) -> list[str]:
    """Return the output without times."""
    return [line[9:] for line in stream.getvalue().splitlines()]


def test_each_begin_and_end_is_one_line(scene: Scene) -> None:
    stream = io.StringIO()
    view = PlainView(stream)
    scene.activities = {"demo-1": Activity("Test", "Sleep")}
    scene.steps = [SLEEP]
    view.refresh(scene)
    scene.activities = {"demo-1": Activity("Test", "Sleep more")}
    view.refresh(scene)
    scene.steps = [replace(SLEEP, status="failed", ended="2026-01-01T00:00:42Z", error="too far\nreally")]
    view.close(scene)
    assert lines(stream) == [
        "play        Test",
        "running     001__demo__sleep",
        "failed      001__demo__sleep  12 s  too far",
    ]


def test_play_without_a_task_is_not_shown(scene: Scene) -> None:
    stream = io.StringIO()
    view = PlainView(stream)
    follower = Follower(scene, view, Interrupts())
    request: Any = SimpleNamespace(directory=RUN)
    for name, play, task in (
        ("playbook_on_play_start", "Check", ""),
        ("playbook_on_task_start", "Check", "Check the settings"),
        ("playbook_on_play_start", "Book hosts of QUADS", ""),
        ("playbook_on_no_hosts_matched", "Book hosts of QUADS", ""),
        ("playbook_on_play_start", "Test", ""),
        ("playbook_on_task_start", "Test", "Test"),
    ):
        follower.event(request, AnsibleEvent(name, play, task, ""))
        view.refresh(scene)
    assert lines(stream) == ["play        Check", "play        Test"]


def test_cell_ends_after_its_content(scene: Scene) -> None:
    stream = io.StringIO()
    directory = RUN / "001__cell__0"
    inner = replace(SLEEP, directory=directory / "001__demo__sleep", status="ok", ended="2026-01-01T00:00:31Z")
    cell = Step(directory, 1, "cell", "0", status="running", label="n=1", children=(replace(inner, status="running"),))
    view = PlainView(stream)
    scene.steps = [cell]
    view.refresh(scene)
    scene.steps = [replace(cell, status="ok", children=(inner,))]
    view.refresh(scene)
    assert lines(stream) == [
        "running     001__cell__0  n=1",
        "running     001__cell__0/001__demo__sleep",
        "ok          001__cell__0/001__demo__sleep  1.0 s",
        "ok          001__cell__0  n=1",
    ]


def test_cell_in_a_separate_process_is_named(scene: Scene) -> None:
    stream = io.StringIO()
    scene.activities = {"002__cell__1": Activity("Test")}
    PlainView(stream).refresh(scene)
    assert lines(stream) == ["play        Test (002__cell__1)"]


def test_booking_and_lease_changes_are_printed(scene: Scene) -> None:
    stream = io.StringIO()
    view = PlainView(stream)
    booking = Booking("cloud02", 5, "2099-01-01T15:00:00.000Z", exact=True)
    for found in ((booking,), (booking,), (replace(booking, end="2099-01-03T15:00:00.000Z"),), ()):
        scene.bookings = found
        view.refresh(scene)
    first, second = lines(stream)
    assert first.startswith("booked      cloud02: 5 hosts until 2099-01-01T15:00Z, ") and first.endswith(" left")
    assert "2099-01-03" in second
    late = datetime.datetime(2099, 1, 1, 14, 30, tzinfo=datetime.UTC)
    assert booking.text(late).endswith("15:00Z, 30m00s left")
    assert replace(booking, exact=False).text(late + datetime.timedelta(hours=1)).endswith("UTC, expired")


def test_awaited_state_and_duration_are_printed() -> None:
    assert awaited_text(WAITING, NOW) == "waiting for 20 pods: 20 s of 1m30s, last seen: 12 ready"
    assert awaited_text(SLEEP, NOW) == ""
    assert awaited_text(replace(WAITING, status="ok"), NOW) == ""


def test_wait_is_repeated_occasionally(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    view = PlainView(stream)
    scene.steps = [WAITING]
    for seconds in (0, 1, 20, 31, 40, 62):
        moment = NOW + datetime.timedelta(seconds=seconds)
        monkeypatch.setattr("perfdrv.views.plain.utc_now", lambda moment=moment: moment)
        view.refresh(scene)
    recalled = [line for line in lines(stream) if "waiting for" in line]
    assert [line.split(": ")[1].split(",")[0] for line in recalled] == ["51 s of 1m30s", "1m22s of 1m30s"]


@pytest.mark.parametrize(
    ("progress", "text"),
    [
        (
            {"numbers": {"submitted": {"value": 0, "of": 300}, "completed": {"value": 0, "per_s": 0}}},
            "0 of 300 submitted, 0 completed",
        ),
        (
            {
                "phase": "submitting",
                "numbers": {
                    "submitted": {"value": 120, "of": 300, "per_s": 41.04},
                    "running": {"value": 39},
                    "completed": {"value": 80, "per_s": 12.5},
                    "failed": {"value": 1},
                    "lost": {"value": 0},
                },
            },
            "submitting: 120 of 300 submitted (41.0/s), 39 running, 80 completed (12.5/s), 1 failed",
        ),
        ({"numbers": {"submitted": {"value": 7, "of": 0}, "completed": {"value": 7}}}, "7 submitted, 7 completed"),
        (
            {"phase": "training", "numbers": {"steps": {"value": 3, "of": 40}}, "summary": None},
            "training: 3 of 40 steps",
        ),
        ({"phase": "done", "numbers": {"submitted": {"value": 32}}, "summary": "all is well"}, "all is well"),
        ({"phase": "syncing"}, "syncing"),
        ({"phase": "syncing", "numbers": {"files": 3}}, "syncing"),
    ],
)
def test_progress_of_a_command_is_printed(progress: dict[str, object], text: str) -> None:
    assert progress_text(progress) == text


def test_command_table_cannot_control_the_terminal() -> None:
    step = replace(SLEEP, progress={"lines": ["cloud02  jane", "\x1b[2J\nowner"]})
    assert table_lines(step) == ["cloud02  jane", "\ufffd[2J\ufffdowner"]
    assert table_lines(SLEEP) == []


def test_failed_step_shows_its_error() -> None:
    assert remark_text(replace(SLEEP, status="failed", error="x\ny"), NOW) == "x"


class Broken(io.StringIO):
    """A closed terminal."""

    def write(self, text: str) -> int:
        """Fail."""
        raise OSError(5, "Input/output error")


def test_lost_terminal_is_no_error(scene: Scene) -> None:
    view = SurvivingView(PlainView(Broken()))
    view.print_line("one")
    scene.steps = [SLEEP]
    view.refresh(scene)
    view.close(scene)


def test_working_view_is_left_unchanged(scene: Scene) -> None:
    stream = io.StringIO()
    view = SurvivingView(PlainView(stream))
    view.print_line("one")
    scene.steps = [SLEEP]
    view.close(scene)
    assert lines(stream) == ["one", "running     001__demo__sleep"]


def picture(scene: Scene, height: int = 40, width: int = 100) -> str:
    """Return the live view as text."""
    console = Console(file=io.StringIO(), force_terminal=True, width=width, height=height, color_system=None)
    view = LiveView(console)
    view.refresh(scene)
    console.file = io.StringIO()
    view.refresh(scene)
    text = console.file.getvalue()
    view.close(scene)
    return text


def test_live_view_shows_flow_play_step_and_progress(scene: Scene) -> None:
    scene.activities = {"demo-1": Activity("Test", "Sleep")}
    scene.steps = [replace(WAITING, progress={"done": 5, "of": 20, "numbers": {"submitted": {"value": 12, "of": 20}}})]
    text = picture(scene)
    assert all(part in text for part in ("demo on lab", "Test - Sleep", "001 demo sleep", "12 of 20 submitted", "━"))


def test_live_view_shows_that_it_stops(scene: Scene) -> None:
    scene.stopping = True
    assert "stopping: finalizers run; Ctrl-C again to stop immediately" in picture(scene)


def test_live_view_fits_the_terminal(scene: Scene) -> None:
    scene.steps = [replace(SLEEP, number=number, status="ok") for number in range(1, 101)]
    text = picture(scene, height=20)
    assert "more" in text
    assert "100 demo sleep" in text
    assert "001 demo sleep" not in text


def test_small_terminal_shows_the_running_steps(scene: Scene) -> None:
    long = "scale_test_count=500, scale_test_gpus=8, scale_test_nodes=40, scale_test_rate=20.5"
    done = [Step(RUN / f"{n:03d}__cell__{n}", n, "cell", str(n), status="ok", label=long) for n in range(1, 41)]
    progress = {"done": 5, "of": 20, "numbers": {"submitted": {"value": 12, "of": 20}}}
    running = replace(done[9], status="running", children=(replace(WAITING, number=77, progress=progress),))
    scene.steps = [*done[:9], running, *done[10:]]
    text = picture(scene, height=24, width=80)
    assert text.count("\n") < 24
    assert all(part in text for part in ("● 010 cell 10", "● 077 demo sleep", "✔ 040 cell 40"))


@pytest.mark.parametrize(
    ("states", "mark"),
    [(("ok", "running"), "●"), (("ok", "failed"), "✘"), (("ok", "interrupted"), "■"), (("ok", "ok"), "✔"), ((), "·")],
)
def test_group_status_follows_from_its_steps(states: tuple[str, ...], mark: str, scene: Scene) -> None:
    steps = tuple(replace(SLEEP, status=state) for state in states)
    lane = Step(RUN / "001__prepare" / "001__lane__gpus", 1, "lane", "gpus", children=steps)
    scene.steps = [Step(RUN / "001__prepare", 1, "group", "prepare", children=(lane,))]
    text = picture(scene)
    assert f"{mark} 001 prepare" in text
    assert f"{mark} 001 lane gpus" in text


def test_task_repeating_its_play_name_is_not_printed() -> None:
    assert str(Activity("Test", "Test")) == "Test"
    assert str(Activity("Prepare, all lanes at once", "Prepare")) == "Prepare, all lanes at once"
    assert str(Activity("Test", "Sleep")) == "Test - Sleep"


def test_full_table_has_every_step() -> None:
    written = io.StringIO()
    console = Console(file=written, width=100)
    console.print(steps_table([replace(SLEEP, status="ok", ended="2026-01-01T00:00:31Z")], NOW, None))
    assert "✔ 001 demo sleep 1.0 s" in written.getvalue()


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(None, ""), (0.04, "0.0 s"), (9.94, "9.9 s"), (12.4, "12 s"), (59.7, "1m00s"), (185, "3m05s"), (7620, "2h07m")],
)
def test_durations_are_readable(seconds: float | None, text: str) -> None:
    assert duration_text(seconds) == text


def test_unreadable_times_are_ignored() -> None:
    assert parse("yesterday") is None
    assert when_text(None) == ""
    assert seconds_between(None, None, NOW) is None


def test_abandoned_step_has_no_duration() -> None:
    assert step_seconds("interrupted", "2026-01-01T00:00:00Z", None, NOW) is None
    assert step_seconds("running", "2026-01-01T00:00:00Z", None, NOW) == 60.0
