"""Shapes of arrival: values computed by hand, and the statistics of the random one."""

from __future__ import annotations

import itertools
import math
import statistics
from typing import Any

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads.arrivals import (
    ArrivalSettings,
    Phase,
    phases_of,
)

from tests.data.loads import load

RAMP, STEADY, DRAIN = Phase(10, 0, 4), Phase(5, 4, 4), Phase(10, 4, 0)


def due_times(count: int, batch: int = 1, **given: Any) -> list[float]:
    arrivals = ArrivalSettings(**given).arrivals(count, batch)
    return [round(arrivals.due_s(position), 6) for position in range(count)]


def test_default_is_all_at_once() -> None:
    assert due_times(3) == [0, 0, 0]


def test_rate_spaces_arrivals_evenly() -> None:
    assert due_times(4, rate=20.0) == [0, 0.05, 0.1, 0.15]


def test_burst_is_immediate_and_then_the_rate_holds() -> None:
    assert due_times(6, rate=2.0, burst=3) == [0, 0, 0, 0.5, 1.0, 1.5]


def test_batches_have_the_size_of_the_parallelism() -> None:
    assert due_times(7, batch=3, batch_delay_s=1.5) == [0, 0, 0, 1.5, 1.5, 1.5, 3.0]


def test_ramp_has_as_many_arrivals_as_the_area_below_it() -> None:
    # Rate 0.4 t, so 0.2 t² arrivals by t: the p-th at √(5 p), the 20th at the end
    assert due_times(21, phases=(RAMP, STEADY)) == [round(math.sqrt(5 * position), 6) for position in range(21)]


def test_phases_follow_each_other_and_the_last_rate_continues() -> None:
    offsets = due_times(61, phases=(RAMP, STEADY))
    # 20 in the ramp, 20 in the steady part until 15 s, and 4 a second from there
    assert [offsets[position] for position in (20, 24, 40, 44, 60)] == [10, 11, 15, 16, 20]


def test_drain_mirrors_its_ramp() -> None:
    offsets = due_times(61, phases=(RAMP, STEADY, DRAIN))
    assert [round(25 - when, 6) for when in reversed(offsets)] == offsets


def test_pause_is_a_phase_without_arrivals() -> None:
    assert due_times(5, phases=(Phase(1, 2, 2), Phase(10, 0, 0), Phase(1, 2, 2))) == [0, 0.5, 1.0, 11.5, 12.0]
    assert due_times(2, phases=(Phase(10, 0, 0), Phase(1, 2, 2))) == [10, 10.5]


def test_burst_precedes_the_phases() -> None:
    assert due_times(4, phases=(Phase(10, 1, 1),), burst=3) == [0, 0, 0, 1.0]


def test_same_seed_yields_the_same_arrivals_in_any_order() -> None:
    first = due_times(50, rate=5.0, spacing="poisson", seed=7)
    assert first == due_times(50, rate=5.0, spacing="poisson", seed=7)
    assert first != due_times(50, rate=5.0, spacing="poisson", seed=8)
    backwards = ArrivalSettings(rate=5.0, spacing="poisson", seed=7).arrivals(1, 1)
    assert [round(backwards.due_s(position), 6) for position in reversed(range(50))] == first[::-1]


def test_poisson_gaps_are_exponential_around_the_rate() -> None:
    offsets = due_times(20_000, rate=4.0, spacing="poisson", seed=1)
    gaps = [later - earlier for earlier, later in itertools.pairwise(offsets)]
    # The exponential distribution's mean and deviation are equal; 20,000 gaps determine them to about 0.7 %.
    assert statistics.fmean(gaps) == pytest.approx(0.25, rel=0.03)
    assert statistics.pstdev(gaps) == pytest.approx(0.25, rel=0.03)
    # A share of 1 - 1/e is shorter than the mean.
    assert sum(gap < 0.25 for gap in gaps) / len(gaps) == pytest.approx(1 - math.exp(-1), abs=0.02)


def test_poisson_arrivals_in_phases_follow_the_rate() -> None:
    phases = (Phase(100, 0, 40), Phase(50, 40, 40))
    offsets = due_times(4_000, phases=phases, spacing="poisson", seed=3)
    # 2,000 are expected in the ramp, a quarter of them in its first half; √n is the deviation of such a number.
    assert sum(when <= 50 for when in offsets) == pytest.approx(500, abs=3 * math.sqrt(500))
    assert sum(when <= 100 for when in offsets) == pytest.approx(2000, abs=3 * math.sqrt(2000))


def test_phases_that_end_too_early_are_refused() -> None:
    assert due_times(61, phases=(RAMP, STEADY, DRAIN))[-1] == 25
    with pytest.raises(UsageError, match="rate of 0 after about 60 workloads, before all 62 are due"):
        due_times(62, phases=(RAMP, STEADY, DRAIN))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"rate": 1.0, "batch_delay_s": 1.0}, "rate and batch_delay_s are both set"),
        ({"rate": 1.0, "phases": (STEADY,)}, "rate and phases are both set"),
        ({"spacing": "poisson"}, "poisson needs a rate or phases"),
        ({"burst": 2}, "burst is 2; it needs a rate or phases"),
        ({"burst": 2, "rate": 1.0, "spacing": "poisson"}, "and even spacing"),
        ({"burst": 0}, "burst is 0; it must be at least 1"),
        ({"rate": -1.0}, "rate is -1.0; it must be at least 0"),
    ],
)
def test_contradictory_options_are_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        ArrivalSettings(**given)


def test_phases_are_written_with_their_target_rates() -> None:
    given: list[dict[str, Any]] = [
        {"duration": "10s", "to": 4, "from": None},
        {"duration": 5, "to": 4.0},
        {"duration": "1m", "from": 9, "to": 0},
    ]
    assert phases_of(given) == (RAMP, STEADY, Phase(60, 9, 0))


@pytest.mark.parametrize("given", [{"duration": 0, "to": 1}, {"duration": 5, "to": -1}])
def test_invalid_phase_is_named(given: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=r"phase 2 needs .*duration"):
        phases_of([{"duration": 1, "to": 1}, given])


def test_arguments_become_settings_with_durations_in_seconds() -> None:
    settings = load(batch_delay=0.5, seed=3).arrivals(None)
    assert (settings.batch_delay_s, settings.seed) == (0.5, 3)
    assert settings.document()["batch_delay_s"] == 0.5
