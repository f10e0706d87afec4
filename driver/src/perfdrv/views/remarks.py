"""One line about a step: its error, its waiting, its progress."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any

from perfanalysis.files.documents import finite_number

from perfdrv.runs.durations import duration_text, seconds_between
from perfdrv.runs.tree import Step


def awaited_text(step: Step, now: datetime.datetime) -> str:
    """Return the progress of a running step, and what it waits for and how long; empty if neither is known."""
    if step.status != "running":
        return ""
    parts = []
    if step.progress:
        parts.append(progress_text(step.progress))
    if step.waiting:
        since = duration_text(seconds_between(step.waiting.since, None, now))
        limit = f" of {duration_text(step.waiting.timeout_seconds)}" if step.waiting.timeout_seconds else ""
        last = f", last seen: {step.waiting.last}" if step.waiting.last else ""
        parts.append(f"waiting for {step.waiting.what}: {since}{limit}{last}")
    return "; ".join(filter(None, parts))


def progress_text(progress: Mapping[str, Any]) -> str:
    """Return the text of progress.json, such as `submitting: 120 of 300 submitted (41.0/s), 80 completed (12.5/s)`.

    A number that is 0 is left out, unless it has a total or a rate. At the end, the text is the summary.
    """
    if progress.get("summary"):
        return str(progress["summary"])
    numbers = progress.get("numbers")
    counted = numbers.items() if isinstance(numbers, Mapping) else ()
    text = ", ".join(filter(None, (_number_text(label, number) for label, number in counted)))
    return ": ".join(filter(None, (str(progress.get("phase") or ""), text)))


def _number_text(label: str, number: Any) -> str:
    if not isinstance(number, Mapping) or not (number.get("value") or "of" in number or "per_s" in number):
        return ""
    aim = f" of {number['of']}" if number.get("of") else ""
    per_s = finite_number(number.get("per_s"))
    rate = f" ({per_s:.1f}/s)" if per_s else ""
    return f"{number.get('value', 0)}{aim} {label}{rate}"


def remark_text(step: Step, now: datetime.datetime) -> str:
    """Return one line about a step: its error, what it waits for, its progress, or its values."""
    if step.error and step.status != "running":
        return first_line(step.error)
    progress = progress_text(step.progress) if step.progress else ""
    return awaited_text(step, now) or progress or step.label


def table_lines(step: Step) -> list[str]:
    """Return the lines of a command's table; control characters are replaced."""
    lines = (step.progress or {}).get("lines")
    texts = [str(line) for line in lines] if isinstance(lines, list) else []
    return ["".join(each if each.isprintable() else "\ufffd" for each in text) for text in texts]


def first_line(text: str) -> str:
    """Return the first line of a text."""
    return text.strip().partition("\n")[0]
