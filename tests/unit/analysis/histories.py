"""Documents of a history, made by hand."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from typing import Any

BEGAN = datetime.datetime(2026, 3, 1, tzinfo=datetime.UTC)


def kpi(name: str, value: float, direction: str = "lower", unit: str = "seconds") -> dict[str, Any]:
    """Return a KPI in the format of a history."""
    known = {"name": name, "help": f"Help of {name}", "unit": unit, "direction": direction}
    return {**known, "value": value, "low": None, "high": None, "count": 100}


def document(day: int, kpis: Sequence[Mapping[str, Any]], **changes: Any) -> dict[str, Any]:
    """Return a day's run, `run-007` of day 7, with one recording; `keys` are those of the recording."""
    started = (BEGAN + datetime.timedelta(days=day)).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    keys = changes.pop("keys", {"scale_test_count": 100})
    recording = {
        "kind": "recording.json",
        "recording": "001__scale_test__submit",
        "labels": {"recording": "001__scale_test__submit"},
        "keys": keys,
        "kpis": list(kpis),
    }
    return {
        "schema": "psap.perf/history/1",
        "run": f"run-{day:03d}",
        "flow": "scale_test",
        "status": "ok",
        "started": started,
        "lab": {"real": [], "emulated": [], "simulated": ["nodes"]},
        "analysis": "1.0.0",
        "facts": {"cluster.version": f"4.{day}", "site": "bench-7"},
        "recordings": [recording],
        **changes,
    }
