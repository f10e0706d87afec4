"""Write the document of repeated cold starts."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

from tests.schemas import check

_MOMENTS = ("deleted", "pod created", "scheduled", "container started", "model loaded", "first answer")


def start(number: int, *after_s: float) -> dict[str, Any]:
    """Return a start whose moments are *after_s* seconds after the deletion, in their order."""
    times = [1_790_000_000.0 + 100 * number + each for each in (0.0, *after_s)]
    moments = list(zip(_MOMENTS, times, strict=False))
    steps = [
        {
            "step": name,
            "after": before,
            "begin_s": begin,
            "end_s": end,
            "took_s": round(end - begin, 6),
            "clock": "the command",
            "resolution_s": 0.05,
        }
        for (before, begin), (name, end) in pairwise(moments)
    ]
    return {"number": number, "steps": steps}


def write_cold_starts(place: Path, starts: tuple[dict[str, Any], ...] = (), requested: int = 0) -> None:
    starts = starts or tuple(start(number, 0.1, 0.2, 1.2, 3.1 + number / 10, 4.1) for number in range(1, 8))
    document = {
        "schema": "psap.perf/cold-starts/1",
        "service": "tiny",
        "model": "tiny",
        "runtime": "llama-cpp",
        "image": "a:1",
        "requested": requested or len(starts),
        "starts": list(starts),
        "lab": None,
    }
    check(document)
    place.mkdir(parents=True)
    (place / "cold_starts.json").write_text(json.dumps(document))
