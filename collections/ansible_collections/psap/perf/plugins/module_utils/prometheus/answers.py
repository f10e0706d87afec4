"""Responses of Prometheus, typed; written in the same format, for tools that read it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError

Sample = tuple[float, str]
"""A time in seconds since the epoch, and the value in Prometheus' format: digits, ``NaN``, ``+Inf`` or ``-Inf``."""


@dataclass(frozen=True, slots=True)
class Series:
    """One series: its labels, including ``__name__`` if it has a name, and its samples in the order of time."""

    labels: Mapping[str, str]
    samples: tuple[Sample, ...]

    @property
    def numbers(self) -> tuple[float, ...]:
        """The values as numbers."""
        return tuple(float(value) for _at_s, value in self.samples)


@dataclass(frozen=True, slots=True)
class Answer:
    """Series and the server's warnings, for example about stores that it could not query."""

    series: tuple[Series, ...]
    warnings: tuple[str, ...] = ()

    @property
    def samples(self) -> int:
        """The number of samples of all series."""
        return sum(len(series.samples) for series in self.series)

    def document(self) -> dict[str, Any]:
        """Return Prometheus' own response to a range query."""
        found = [{"metric": dict(one.labels), "values": [list(pair) for pair in one.samples]} for one in self.series]
        answer: dict[str, Any] = {"status": "success", "data": {"resultType": "matrix", "result": found}}
        return {**answer, "warnings": list(self.warnings)} if self.warnings else answer


def read_answer(body: Mapping[str, Any]) -> Answer:
    """Return the answer in a successful *body*; an instant query has one sample for each series.

    Raises:
        ClusterError: If it does not have Prometheus' documented format.
    """
    try:
        data = body["data"]
        kind, result = data["resultType"], data["result"]
        if kind in ("scalar", "string"):
            series: tuple[Series, ...] = (Series({}, (_sample(result),)),)
        else:
            series = tuple(_series(item) for item in result)
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise ClusterError(f"the response is not from Prometheus: {type(error).__name__} when parsing it") from error
    return Answer(series, tuple(str(warning) for warning in body.get("warnings") or ()))


def join(answers: Iterable[Answer]) -> Answer:
    """Return answers for consecutive windows as one."""
    samples: dict[tuple[tuple[str, str], ...], list[Sample]] = {}
    warnings: dict[str, None] = {}
    for answer in answers:
        warnings.update(dict.fromkeys(answer.warnings))
        for series in answer.series:
            samples.setdefault(tuple(sorted(series.labels.items())), []).extend(series.samples)
    found = tuple(Series(dict(labels), tuple(values)) for labels, values in samples.items())
    return Answer(found, tuple(warnings))


def _series(item: Mapping[str, Any]) -> Series:
    pairs = item["values"] if "values" in item else [item["value"]] if "value" in item else []
    labels = {str(name): str(value) for name, value in item["metric"].items()}
    return Series(labels, tuple(_sample(pair) for pair in pairs))


def _sample(pair: Any) -> Sample:
    at_s, value = pair
    return float(at_s), str(value)
