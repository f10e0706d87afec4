"""What distinguishes recordings: their labels, and the settings that determine comparable ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from perfanalysis.drawing.wording import value_text
from perfanalysis.files.discovery import Run
from perfanalysis.files.documents import mapping
from perfanalysis.workloads.workload_type import Analysis

MOST_NAMED = 3
"""Recordings that a mark of a figure names."""


def labels_of(analysis: Analysis) -> dict[str, str]:
    """Return the labels of a recording: its name, and its cell with the cell's values."""
    labels = {"recording": analysis.place.name}
    labels |= {name.lower(): value for name, value in analysis.facts.items()}
    if analysis.place.part:
        labels["part"] = analysis.place.part
    cell = analysis.place.cell
    if cell is not None:
        labels["cell"] = str(cell.index)
        labels |= {name: value_text(value) for name, value in cell.values.items()}
    return labels


def recording_label(analysis: Analysis, run: Run) -> str:
    """Return a recording's name for readers: the cell with its distinguishing values, else its directory."""
    cell = analysis.place.cell
    if cell is None:
        return analysis.place.name
    prefix = f"{run.document.get('flow')}_"
    known = ((name.removeprefix(prefix), cell.values.get(name)) for name in varying_settings(run))
    texts = ((name, value_text(value)) for name, value in known if value is not None)
    # the parts of a dictionary have their own names
    parts = [text if "=" in text else f"{name}={text}" for name, text in texts]
    # a cell may have several loads
    parts += [analysis.facts["load"]] if "load" in analysis.facts else []
    return f"cell {cell.index}: {', '.join(parts)}" if parts else f"cell {cell.index}"


def marks_together(analyses: Sequence[Analysis], run: Run) -> tuple[str, ...]:
    """Return the marks of a figure of several recordings: their lab, or if labs differ, each with its recordings."""
    recordings: dict[str, list[str]] = {}
    for analysis in analyses:
        lab = analysis.lab if analysis.lab.phrases else run.lab
        recordings.setdefault(lab.line, []).append(recording_label(analysis, run))
    parts = dict.fromkeys(analysis.place.part for analysis in analyses if analysis.place.part)
    if len(recordings) < 2:
        return (*filter(None, recordings), *parts)
    return (*(f"{line or 'not on a lab'} ({_some(labels)})" for line, labels in recordings.items()), *parts)


def _some(labels: list[str]) -> str:
    """Return the first of these labels, and the number of the others."""
    names = list(dict.fromkeys(labels))
    more = len(names) - MOST_NAMED
    return "; ".join(names[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def varying_settings(run: Run) -> tuple[str, ...]:
    """Return the settings that differ between the cells of a run, in order."""
    found: dict[str, set[str]] = {}
    for cell in run.cells:
        for name, value in cell.values.items():
            found.setdefault(name, set()).add(value_text(value))
    return tuple(name for name, values in found.items() if len(values) > 1)


def key_settings(run: Run) -> dict[str, Any]:
    """Return the settings of a run that determine whether its results are comparable."""
    entries = ((name, mapping(entry)) for name, entry in mapping(run.settings.get("all")).items())
    return {name: entry.get("value") for name, entry in entries if entry.get("compare") == "key"}


def settings_of(analysis: Analysis, run: Run) -> dict[str, Any]:
    """Return the same for one recording: a cell's values override those of the run, and its own facts are added.

    A value whose name begins with @ only counts repetitions of one test, and is not a key.
    """
    cell = analysis.place.cell
    values = {} if cell is None else {name: value for name, value in cell.values.items() if not name.startswith("@")}
    return {**key_settings(run), **values, **analysis.facts}
