"""Churn: each round replaces the oldest workloads, in spite of every fault, and all are accounted for."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitting.churn import ChurnPlan

from tests.schemas import schema_of

from .fake_api import FakeApi
from .sessions import JOBS, SUBMISSION, Scene, eventually

pytestmark = pytest.mark.slow

NAMES = [SUBMISSION.name(index) for index in range(20)]


def scene(folder: Path, *, rounds: int = 1, count: int = 4, connections: int = 1, percent: float = 50.0) -> Scene:
    return Scene(folder, count=count, connections=connections, churn=ChurnPlan(percent, 0.1, rounds))


def complete_after_submission(scene: Scene) -> Callable[[FakeApi], Awaitable[None]]:
    """Return a function that completes the remaining Jobs after the last submission."""

    async def meanwhile(api: FakeApi) -> None:
        total = scene.churn.total(scene.count)
        await eventually(lambda: api.posts >= total and len(scene.rows("submissions")) == total)
        for name in list(api.objects[JOBS]):
            await api.complete(JOBS, name)

    return meanwhile


def play(scene: Scene, *faults: int | str) -> Any:
    scene.meanwhile = complete_after_submission(scene)
    return scene.play(lambda api: api.delete_faults.extend(faults)).accounting


def test_oldest_leave_and_the_next_indices_replace_them(tmp_path: Path) -> None:
    stage = scene(tmp_path, rounds=3)
    accounting = play(stage)
    assert (accounting.planned, accounting.submitted, accounting.identity_holds) == (10, 10, True)
    assert (accounting.churned, accounting.completed, accounting.lost) == (6, 4, 0)
    assert accounting.sentence().endswith("4 completed, 0 failed, 0 lost, 6 churned")
    rows = sorted(stage.rows("submissions"), key=lambda row: row["index"])
    assert [(row["round"], row["replaces"]) for row in rows] == [
        *[(0, None)] * 4,
        *[(1, 0), (1, 1)],
        *[(2, 2), (2, 3)],
        *[(3, 4), (3, 5)],
    ]
    gone = [(row["round"], row["index"], row["name"], row["outcome"]) for row in stage.rows("churn")]
    assert gone == [(1 + index // 2, index, NAMES[index], "deleted") for index in range(6)]
    document = stage.document("accounting")
    assert document["submitted"] == sum(document[key] for key in ("completed", "failed", "lost", "running", "churned"))
    assert stage.document("progress")["numbers"]["churned"] == {"value": 6}


def test_deleted_workload_is_not_chosen_again_before_its_event(tmp_path: Path) -> None:
    stage = scene(tmp_path, rounds=2)

    async def meanwhile(api: FakeApi) -> None:
        await eventually(lambda: len(stage.rows("submissions")) == 4)
        api.withheld.add("DELETED")
        await eventually(lambda: len(stage.rows("churn")) == 4)
        api.withheld.clear()
        await complete_after_submission(stage)(api)

    stage.meanwhile = meanwhile
    accounting = stage.play().accounting
    assert [row["index"] for row in stage.rows("churn")] == [0, 1, 2, 3]
    assert (accounting.churned, accounting.completed, accounting.identity_holds) == (4, 4, True)


def test_every_row_follows_its_schema(tmp_path: Path) -> None:
    stage = scene(tmp_path)
    play(stage, 403)
    schema = schema_of("churn")
    for row in stage.rows("churn"):
        jsonschema.validate(row, schema)
        assert row.keys() == schema["properties"].keys() == set(schema["required"])


def test_round_begins_one_period_after_the_previous(tmp_path: Path) -> None:
    stage = scene(tmp_path, rounds=2)
    play(stage)
    answered = max(row["answered_s"] for row in stage.rows("submissions") if row["round"] == 0)
    first, second = (min(row["sent_s"] for row in stage.rows("churn") if row["round"] == number) for number in (1, 2))
    assert first >= answered + 0.1
    assert second >= answered + 0.2


def test_deletion_is_limited_to_own_objects_with_their_pods(tmp_path: Path) -> None:
    stage = scene(tmp_path)
    seen: list[tuple[str, dict[str, Any]]] = []
    stage.meanwhile = complete_after_submission(stage)
    stage.play(lambda api: setattr(api, "deletions", seen))
    uids = {row["name"]: row["uid"] for row in stage.rows("submissions")}
    assert [name for name, _options in seen] == NAMES[:2]
    for name, options in seen:
        assert options["propagationPolicy"] == "Background"
        assert options["preconditions"] == {"uid": uids[name]}


@pytest.mark.parametrize("fault", [429, 503, "reset", "lost"])
def test_deletion_is_retried_and_done_once(tmp_path: Path, fault: int | str) -> None:
    stage = scene(tmp_path)
    accounting = play(stage, fault)
    assert (accounting.churned, accounting.completed, accounting.lost) == (2, 4, 0)
    assert [row["outcome"] for row in stage.rows("churn")] == ["deleted", "deleted"]


def test_refused_deletion_lets_its_workload_end(tmp_path: Path) -> None:
    stage = scene(tmp_path)
    accounting = play(stage, 403)
    assert (accounting.submitted, accounting.churned, accounting.completed, accounting.lost) == (6, 1, 5, 0)
    refused = stage.rows("churn")[0]
    assert (refused["status"], refused["outcome"], refused["error"]) == (403, "failed", "403 scripted fault")


def test_another_object_of_the_name_is_left_unchanged(tmp_path: Path) -> None:
    stage = scene(tmp_path)
    accounting = play(stage, 409)
    assert stage.rows("churn")[0]["outcome"] == "absent"
    assert (accounting.churned, accounting.completed) == (1, 5)


def test_completed_workload_stays_completed_after_deletion(tmp_path: Path) -> None:
    stage = scene(tmp_path)

    async def meanwhile(api: FakeApi) -> None:
        await eventually(lambda: len(api.objects.get(JOBS, {})) == 4)
        await api.complete(JOBS, NAMES[0])
        await complete_after_submission(stage)(api)

    stage.meanwhile = meanwhile
    accounting = stage.play().accounting
    assert [row["outcome"] for row in stage.rows("churn")] == ["deleted", "deleted"]
    assert (accounting.churned, accounting.completed, accounting.identity_holds) == (1, 5, True)


def test_vanished_workload_is_not_chosen_and_counts_as_lost(tmp_path: Path) -> None:
    stage = scene(tmp_path)

    async def meanwhile(api: FakeApi) -> None:
        await eventually(lambda: len(api.objects.get(JOBS, {})) == 4)
        await api.delete(JOBS, NAMES[0])
        await complete_after_submission(stage)(api)

    stage.meanwhile = meanwhile
    accounting = stage.play().accounting
    assert [row["index"] for row in stage.rows("churn")] == [1, 2]
    assert (accounting.churned, accounting.completed, accounting.lost) == (2, 3, 1)


def test_stop_during_a_round_keeps_accounts_correct(tmp_path: Path) -> None:
    stage = scene(tmp_path, rounds=100, count=10, connections=2)

    async def stop(api: FakeApi) -> None:
        await eventually(lambda: len(api.deletions) >= 7)
        stage.stop.set()

    stage.meanwhile = stop
    end = stage.play()
    accounting = end.accounting
    assert (end.ended_by, accounting.identity_holds, accounting.lost) == ("stop", True, 0)
    assert accounting.churned == len([row for row in stage.rows("churn") if row["outcome"] == "deleted"]) >= 7
    assert accounting.submitted == len(stage.rows("submissions")) == accounting.churned + accounting.running


def test_recorder_churns_workloads_of_all_submitters(tmp_path: Path) -> None:
    stage = scene(tmp_path, count=6, connections=2)
    stage.submitters = 2
    accounting = play(stage)
    assert (accounting.submitted, accounting.churned, accounting.completed) == (9, 3, 6)
    assert sorted(row["replaces"] for row in stage.rows("submissions") if row["round"] == 1) == [0, 1, 2]


@pytest.mark.parametrize(
    ("plan", "count", "share", "total"),
    [
        (ChurnPlan(), 100, 0, 100),
        (ChurnPlan(10, 1, 3), 100, 10, 130),
        (ChurnPlan(1, 1, 2), 20, 1, 22),
        (ChurnPlan(100, 1, 1), 7, 7, 14),
    ],
)
def test_round_size_is_a_share_of_the_requested_count(plan: ChurnPlan, count: int, share: int, total: int) -> None:
    assert (plan.share(count), plan.total(count)) == (share, total)


@pytest.mark.parametrize(
    ("percent", "rounds", "message"),
    [(-1, 1, "from 0 to 100"), (101, 1, "from 0 to 100"), (10, 0, "rounds is 0; it must be at least 1")],
)
def test_invalid_churn_plan_is_refused(percent: float, rounds: int, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        ChurnPlan(percent, 1.0, rounds)


def test_run_without_churn_has_no_churn_file(tmp_path: Path) -> None:
    Scene(tmp_path, count=1).play(lambda api: setattr(api, "complete_jobs", True))
    assert not (tmp_path / "churn.jsonl").exists()


def test_stop_ends_the_waiting(tmp_path: Path) -> None:
    stage = Scene(tmp_path, count=2, churn=ChurnPlan(50, 1000.0, 1))

    async def stop(api: FakeApi) -> None:
        await eventually(lambda: len(api.objects.get(JOBS, {})) == 2)
        await asyncio.sleep(0.2)
        stage.stop.set()

    stage.meanwhile = stop
    end = stage.play()
    assert (end.ended_by, end.accounting.submitted, end.accounting.churned) == ("stop", 2, 0)
