"""The document psap.perf/comparison/1."""

from __future__ import annotations

from perfanalysis.files.documents import Document
from perfanalysis.verdicts.comparison.comparison import Comparison, KpiComparison, PairComparison, StepComparison
from perfanalysis.verdicts.comparison.pairs import UNKNOWN
from perfanalysis.verdicts.comparison.statistics import Difference
from perfanalysis.workloads.kpis import declared


def comparison_document(comparison: Comparison) -> Document:
    """Everything of a comparison; missing is null with a reason."""
    return {
        "schema": "psap.perf/comparison/1",
        "runs": [side.name for side in comparison.sides],
        "headings": list(comparison.headings),
        "margin": comparison.margin,
        "percentiles": comparison.method,
        "marks": [list(side.marks.phrases) for side in comparison.sides],
        "notes": [*comparison.data_errors, *comparison.notes],
        "data_errors": list(comparison.data_errors),
        "only": [list(labels) for labels in comparison.only],
        "differences": [
            {"name": each.name, "values": list(each.values), "known": list(each.known)}
            for each in comparison.differences
        ],
        "pairs": [_pair(pair) for pair in comparison.pairs],
    }


def _pair(pair: PairComparison) -> Document:
    return {
        "run": pair.run,
        "label": pair.label,
        "labels": [dict(labels) for labels in pair.labels],
        "settings": dict(pair.settings),
        "differing": {
            name: [None if value is UNKNOWN else value for value in values] for name, values in pair.differing.items()
        },
        "steps": [_step(step) for step in pair.steps],
        "kpis": [_kpi(kpi) for kpi in pair.kpis],
    }


def _step(step: StepComparison) -> Document:
    return {
        "name": step.name,
        "help": step.help,
        "unit": step.unit,
        "direction": step.direction,
        "counts": list(step.counts),
        "cliffs_delta": step.delta,
        "differences": [_difference(difference) for difference in step.differences],
    }


def _difference(difference: Difference) -> Document:
    return {
        "statistic": difference.statistic,
        "values": [difference.first, difference.second],
        "difference": difference.difference,
        "relative": difference.relative,
        "low": difference.low,
        "high": difference.high,
        "verdict": difference.word,
        "reason": difference.reason,
    }


def _kpi(compared: KpiComparison) -> Document:
    judged = compared.judged
    return {
        **declared(compared.kpi),
        "name": compared.kpi.series,
        "values": [compared.kpi.number, compared.second.number],
        "difference": compared.difference,
        "relative": compared.relative,
        "low": None if judged is None else judged.low,
        "high": None if judged is None else judged.high,
        "verdict": None if judged is None else judged.word,
        "reason": compared.reason if judged is None else judged.reason,
    }
