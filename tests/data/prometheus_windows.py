"""Write the artifacts of Prometheus queries over a window, from given series."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml


@dataclass(frozen=True)
class Series:
    """Labels, and values from `start_s` on, `step_s` apart; None where nothing was scraped."""

    labels: Mapping[str, str]
    values: Sequence[float | None]
    start_s: float
    step_s: float = 2.0

    def answer(self) -> dict[str, Any]:
        """Return the series as Prometheus does for a range."""
        at = enumerate(self.values)
        pairs = [[self.start_s + self.step_s * place, f"{value:g}"] for place, value in at if value is not None]
        return {"metric": dict(self.labels), "values": pairs}


def gpu(metric: str, pod: str, number: int, values: Sequence[float | None], start_s: float, **more: str) -> Series:
    """Return a series of NVIDIA's exporter about the GPU of a pod."""
    labels = {"__name__": metric, "Hostname": "node-0000", "gpu": str(number), "pod": pod, "namespace": "fine-tuning"}
    return Series({**labels, **more}, values, start_s)


def matrix(series: Sequence[Series]) -> dict[str, Any]:
    """Return an answer to a range query."""
    return {"status": "success", "data": {"resultType": "matrix", "result": [one.answer() for one in series]}}


def write_window(
    folder: Path, window: tuple[float, float], answers: Mapping[str, Sequence[Series] | None], step_s: float = 2.0
) -> None:
    """Write the artifacts of a command's queries; None is a refused query."""
    folder.mkdir(parents=True, exist_ok=True)
    queries = []
    for name, series in answers.items():
        file = None if series is None else f"{name}.json"
        if series is not None:
            (folder / f"{name}.json").write_text(json.dumps(matrix(series)))
        queries.append(
            {
                "name": name,
                "query": name,
                "file": file,
                "series": None if series is None else len(series),
                "samples": None if series is None else sum(len(one.answer()["values"]) for one in series),
                "error": "Prometheus refused: parse error" if series is None else None,
            }
        )
    document = {
        "schema": "psap.perf/prometheus-queries/1",
        "url": "http://127.0.0.1:9090",
        "origin": "of the lab",
        "start_s": window[0],
        "end_s": window[1],
        "step_s": step_s,
        "queries": queries,
        "warnings": [],
    }
    (folder / "prometheus_queries.yml").write_text(yaml.safe_dump(document))
