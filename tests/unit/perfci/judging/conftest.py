"""Runs with a history of earlier nights, whose KPIs are those of the run with noise."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from perfanalysis.results.history.documents import history_document
from perfanalysis.results.history.folder import add
from perfanalysis.workloads.run_analysis import analyse_run

from tests.data.synthetic_runs import Shape, write_run

SHAPE = Shape(workloads=20, nodes=2, duration=1.0)
Night = Callable[..., Path]


def set_up(run: Path, **settings: object) -> Path:
    """Record settings of a run."""
    path = run / "settings.yml"
    document = yaml.safe_load(path.read_text())
    document["all"] |= {name: {"value": value} for name, value in settings.items()}
    path.write_text(yaml.safe_dump(document))
    return run


def change_run(run: Path, **fields: object) -> Path:
    """Change fields of run.json."""
    path = run / "run.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **fields}))
    return run


def verdict_of(run: Path) -> dict[str, Any]:
    """Return the verdict in run.json."""
    found: dict[str, Any] = json.loads((run / "run.json").read_text())["verdict"]
    return found


@pytest.fixture(scope="session", name="pattern")
def _pattern(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("pattern")
    return history_document(analyse_run(write_run(folder, [SHAPE]), folder / "tables"))


def nights(pattern: dict[str, Any], number: int, *, faster: float = 1.0) -> Iterable[dict[str, Any]]:
    """Yield documents of earlier nights, the last one the night before; `faster` divides times and multiplies rates."""
    random = np.random.default_rng(5)
    for day in range(number, 0, -1):
        document = copy.deepcopy(pattern)
        began = datetime.fromisoformat(pattern["started"]) - timedelta(days=day)
        document |= {"run": f"night-{number - day:03d}", "started": f"{began:%Y-%m-%dT%H:%M:%S}.000Z"}
        for kpi in (kpi for recording in document["recordings"] for kpi in recording["kpis"]):
            factor = 1 / faster if kpi["direction"] == "lower" else faster
            kpi["value"] *= factor * float(random.normal(1, 0.01))
        yield document


@pytest.fixture(name="night")
def _night(tmp_path: Path, pattern: dict[str, Any]) -> Night:
    """Return a function that writes a run and the documents of earlier nights below `history`."""

    def write(earlier: int = 0, faster: float = 1.0, **settings: object) -> Path:
        for document in nights(pattern, earlier, faster=faster):
            add(tmp_path / "history", document)
        run = write_run(tmp_path / "runs", [SHAPE])
        return set_up(run, **{"history_source": str(tmp_path / "history"), "report_enabled": False, **settings})

    return write
