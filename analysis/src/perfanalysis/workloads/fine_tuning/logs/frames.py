"""What was read of logs as declared tables."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from perfanalysis.files.tables import TableSpec
from perfanalysis.workloads.fine_tuning.logs.reading import LogRead
from perfanalysis.workloads.fine_tuning.tables import FACTS, PROBLEMS, STEPS

if TYPE_CHECKING:
    import pandas as pd


def steps_frame(log: LogRead | None) -> pd.DataFrame:
    """The training steps of the trainer's log."""
    if log is None:
        return STEPS.empty()
    rows = [{**vars(step), "step": step.number, "log": log.log, "format": log.format} for step in log.steps]
    return _frame(STEPS, rows)


def facts_frame(log: LogRead | None) -> pd.DataFrame:
    """The facts of the trainer's log."""
    if log is None:
        return FACTS.empty()
    return _frame(FACTS, [{**vars(fact), "log": log.log, "format": log.format} for fact in log.facts])


def problems_frame(logs: Iterable[LogRead]) -> pd.DataFrame:
    """The problems of all logs."""
    return _frame(PROBLEMS, [{**vars(problem), "log": log.log} for log in logs for problem in log.problems])


def _frame(spec: TableSpec, rows: list[dict[str, Any]]) -> pd.DataFrame:
    import pandas as pd

    return spec.conform(pd.DataFrame(rows, columns=[column.name for column in spec.columns]))
