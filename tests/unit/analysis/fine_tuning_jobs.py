"""Fine-tuning jobs for tests of their analysis: one job from a log, and its KPIs by name."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from perfanalysis.files.discovery import Place
from perfanalysis.files.recording_files import RecordingFiles
from perfanalysis.workloads.fine_tuning.analysis import analyse
from perfanalysis.workloads.fine_tuning.parser import parse
from perfanalysis.workloads.kpis import KpiValue
from perfanalysis.workloads.workload_type import Analysis

from tests.data.fine_tuning_runs import Training, document
from tests.data.synthetic_runs import EPOCH, write_json

DOCS = Path(__file__).resolve().parents[3] / "docs"
LOGS = Path(__file__).resolve().parents[2] / "data" / "training_logs"


def schema(name: str) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((DOCS / "schema" / f"{name}.json").read_text())
    return loaded


def analyse_log(folder: Path, log: str | None, **stated: Any) -> Analysis:
    """Return the analysis of a job of 4 GPUs with one of the logs; `stated` changes its fine_tuning.json."""
    (folder / "logs").mkdir(parents=True, exist_ok=True)
    workload = "fms" if log is None else log.split("_")[0]
    facts = {**document(Training(gpus=4, workload=workload), EPOCH), "logs": ["logs/main.log"], **stated}
    write_json(folder / "fine_tuning.json", facts)
    if log is not None:
        shutil.copy(LOGS / log, folder / "logs" / "main.log")
    place = Place(folder, folder.name, "fine_tuning.json", None)
    return analyse(parse(RecordingFiles(place)), place, "linear")


def kpis(analysis: Analysis) -> dict[str, KpiValue]:
    return {value.name: value for value in analysis.kpis}


def numbers(analysis: Analysis, *names: str) -> list[float | None]:
    found = kpis(analysis)
    return [found[name].number for name in names]
