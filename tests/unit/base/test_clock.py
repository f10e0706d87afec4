from __future__ import annotations

import datetime

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.clock import (
    parse_utc,
    seconds,
    seconds_text,
    utc_text,
)
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError


def test_utc_text_has_milliseconds_and_round_trips() -> None:
    cet = datetime.timezone(datetime.timedelta(hours=1))
    moment = datetime.datetime(2026, 11, 21, 1, 2, 3, 4000, tzinfo=cet)
    assert utc_text(moment) == "2026-11-21T00:02:03.004Z"
    assert parse_utc("2026-11-21T00:02:03.004Z") == moment


@pytest.mark.parametrize(
    ("text", "expected"), [(90, 90.0), ("90", 90.0), ("1h30m", 5400.0), ("500ms", 0.5), ("1.5s", 1.5), ("2d", 172800.0)]
)
def test_duration_is_converted_to_seconds(text: object, expected: float) -> None:
    assert seconds(text) == expected


@pytest.mark.parametrize("text", ["", "soon", "5 minutes", "-3s", -3, True, None, "3x", "s"])
def test_invalid_duration_is_refused(text: object) -> None:
    with pytest.raises(UsageError, match="is not a duration"):
        seconds(text)


@pytest.mark.parametrize("text", ["36501d", "9" * 400, 10**400, 1e300, float("inf")])
def test_duration_beyond_a_hundred_years_is_refused(text: object) -> None:
    with pytest.raises(UsageError, match=r"^.{1,45} is longer than a hundred years$"):
        seconds(text)


@pytest.mark.parametrize(
    ("number", "text"), [(0.0, "0"), (30.0, "30"), (0.25, "0.25"), (2_592_000.0, "2592000"), (1234567.5, "1234567.5")]
)
def test_seconds_text_has_no_exponent(number: float, text: str) -> None:
    assert seconds_text(number) == text
