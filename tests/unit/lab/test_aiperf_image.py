"""The packages of the image aiperf."""

from __future__ import annotations

from perflab.building.aiperf_packages import REQUIREMENTS
from perflab.building.commands import pinned


def test_packages_are_pinned() -> None:
    pins = pinned(REQUIREMENTS)
    assert pins["aiperf"] == "0.13.0"
    assert all(pins.values())
