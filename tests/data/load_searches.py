"""Write the document of a search for the highest load within limits."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.schemas import check

LIMIT = 0.3


def load(users: int, ttft_p95: float, spread: float = 0.01) -> dict[str, Any]:
    """Return the row of a load whose interval is *spread* seconds to each side."""
    low, high, held = ttft_p95 - spread, ttft_p95 + spread, ttft_p95 <= LIMIT
    certain = high <= LIMIT if held else low > LIMIT
    measure = {
        "measure": "ttft_p95",
        "unit": "seconds",
        "operator": "<=",
        "limit": LIMIT,
        "value": ttft_p95,
        "low": low,
        "high": high,
        "held": held,
        "certain": certain,
    }
    failures = {
        **measure,
        "measure": "requests_failed_ratio",
        "unit": "ratio",
        "limit": 0.0,
        "value": 0.0,
        "low": None,
        "high": None,
        "held": True,
        "certain": True,
    }
    return {"users": users, "held": held, "certain": certain, "measures": [measure, failures]}


def write_load_search(place: Path, loads: tuple[dict[str, Any], ...] = (load(1, 0.1), load(8, 0.4))) -> None:
    document = {
        "schema": "psap.perf/load-search/1",
        "lowest": 1,
        "highest": 64,
        "most_loads": 8,
        "loads": list(loads),
        "lab": None,
    }
    check(document)
    place.mkdir(parents=True)
    (place / "load_search.json").write_text(json.dumps(document))
