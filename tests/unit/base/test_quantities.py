"""Quantities in the notation of Kubernetes."""

from __future__ import annotations

from fractions import Fraction

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.base.quantities import format_quantity, parse_quantity


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        ("4", Fraction(4)),
        (4, Fraction(4)),
        ("4000m", Fraction(4)),
        ("1.5", Fraction(3, 2)),
        (".5", Fraction(1, 2)),
        ("100n", Fraction(1, 10**7)),
        ("250u", Fraction(1, 4000)),
        ("1k", Fraction(1000)),
        ("1Ki", Fraction(1024)),
        ("131876748Ki", Fraction(131876748 * 1024)),
        ("200Mi", Fraction(200 * 1024**2)),
        ("1Ti", Fraction(1024**4)),
        ("3G", Fraction(3 * 10**9)),
        ("1E", Fraction(10**18)),
        ("1Ei", Fraction(1024**6)),
        ("12e6", Fraction(12 * 10**6)),
        ("1E3", Fraction(1000)),
        ("2e-3", Fraction(2, 1000)),
        ("-1", Fraction(-1)),
    ],
)
def test_quantity_is_read_exactly(text: object, amount: Fraction) -> None:
    assert parse_quantity(text) == amount


@pytest.mark.parametrize("text", ["", "four", "4 Gi", "4ki", "Mi", "1.2.3", "4KiB", None])
def test_invalid_quantity_is_refused(text: object) -> None:
    with pytest.raises(UsageError, match="is not a quantity"):
        parse_quantity(text)


@pytest.mark.parametrize(
    ("resource", "amount", "text"),
    [
        ("cpu", "4", "4000m"),
        ("cpu", "1500u", "1m"),
        ("memory", "1Gi", "1024Mi"),
        ("memory", "1025Ki", "1Mi"),
        ("memory", "1023Ki", "0Mi"),
        ("ephemeral-storage", "2G", "1907Mi"),
        ("hugepages-2Mi", "64Mi", "64Mi"),
        ("nvidia.com/gpu", "8", "8"),
    ],
)
def test_written_quantity_is_rounded_down(resource: str, amount: str, text: str) -> None:
    assert format_quantity(resource, parse_quantity(amount)) == text
    assert parse_quantity(text) <= parse_quantity(amount)
