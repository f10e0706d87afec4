"""The start barrier: all ready, lost and late participants, batches."""

from __future__ import annotations

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.starting.barrier import StartBarrier, StartPlan

PLAN = StartPlan(participants=3, ready_within_s=10.0, lead_s=0.5)


def test_start_follows_last_ready_participant() -> None:
    barrier = StartBarrier(PLAN, began_s=100.0)
    barrier.report_ready(2)
    barrier.report_ready(0)
    assert barrier.decide(101.0) is None
    assert barrier.missing == (1,)

    barrier.report_ready(1)
    opening = barrier.decide(101.0)

    assert opening is not None
    assert (opening.at_s, opening.ready, opening.lost, opening.late) == (101.5, (0, 1, 2), {}, ())


def test_lost_participant_does_not_block_others() -> None:
    barrier = StartBarrier(PLAN, began_s=100.0)
    barrier.report_ready(0)
    barrier.report_ready(2)
    barrier.report_lost(1, "was evicted")

    opening = barrier.decide(100.2)

    assert opening is not None
    assert opening.lost == {1: "was evicted"} == barrier.lost
    assert opening.ready == (0, 2)


def test_late_participants_are_listed_after_time_limit() -> None:
    barrier = StartBarrier(PLAN, began_s=100.0)
    barrier.report_ready(1)
    assert barrier.decide(109.9) is None

    opening = barrier.decide(110.0)

    assert opening is not None
    assert (opening.ready, opening.late) == ((1,), (0, 2))


def test_time_limit_opens_without_ready_participants() -> None:
    opening = StartBarrier(PLAN, began_s=0.0).decide(10.0)

    assert opening is not None
    assert opening.ready == ()


def test_ready_participant_is_not_lost_and_lost_one_may_return() -> None:
    barrier = StartBarrier(PLAN, began_s=0.0)
    barrier.report_ready(0)
    barrier.report_lost(0, "ended")
    barrier.report_lost(1, "was evicted")
    barrier.report_ready(1)

    assert barrier.lost == {}
    assert barrier.missing == (2,)


@pytest.mark.parametrize(("index", "offset_s"), [(0, 0.0), (1, 0.0), (2, 1.5), (5, 3.0)])
def test_batches_are_delayed(index: int, offset_s: float) -> None:
    assert StartPlan(6, 1.0, batch_size=2, batch_delay_s=1.5).offset_s(index) == offset_s


@pytest.mark.parametrize(("participants", "batch_size"), [(0, 1), (1, 0)])
def test_numbers_below_one_are_refused(participants: int, batch_size: int) -> None:
    with pytest.raises(UsageError, match="both begin at 1"):
        StartPlan(participants, 1.0, batch_size=batch_size)
