"""OpenMetrics text by the parser of Prometheus' own Python client; what it refuses is an error with file and line."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import cast

from prometheus_client.metrics_core import Metric
from prometheus_client.openmetrics.parser import text_fd_to_metric_families

from perfanalysis.errors import DataQualityError


class _Lines:
    """The lines of a text, and the number of the last one that was taken."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.number = 0

    def __iter__(self) -> Iterator[str]:
        for line in io.StringIO(self.text, newline="\n"):
            self.number += 1
            yield line


def families_of(content: bytes, where: str) -> tuple[Metric, ...]:
    """The families of a text, in its order. Raises DataQualityError naming `where` and the line."""
    try:
        lines = _Lines(content.decode("utf-8"))
    except UnicodeDecodeError as error:
        place = content[: error.start].count(b"\n") + 1
        raise DataQualityError(f"{where}:{place}: it is no OpenMetrics text: no UTF-8") from error
    try:
        return tuple(cast(Iterator[Metric], text_fd_to_metric_families(lines)))  # type: ignore[no-untyped-call]
    # some lines it does not refuse but stumbles over
    except Exception as error:
        told = str(error) if isinstance(error, ValueError) else ""
        text = told or "the parser of Prometheus cannot read it up to here"
        raise DataQualityError(f"{where}:{max(lines.number, 1)}: it is no OpenMetrics text: {text}") from error
