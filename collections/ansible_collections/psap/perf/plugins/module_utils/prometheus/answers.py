"""What Prometheus answers, typed; and the same form again, for files that any tool for Prometheus reads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError

Sample = tuple[float, str]
"""A moment in seconds since the epoch, and the value as Prometheus writes it: digits, ``NaN``, ``+Inf`` or ``-Inf``."""


@dataclass(frozen=True, slots=True)
class Series:
    """One series: its labels, ``__name__`` among them where it has a name, and its samples in the order of time."""

    labels: Mapping[str, str]
    samples: tuple[Sample, ...]

    @property
    def numbers(self) -> tuple[float, ...]:
        """The values as numbers."""
        return tuple(float(value) for _at_s, value in self.samples)


@dataclass(frozen=True, slots=True)
class Answer:
    """Series, and what the server warned of: parts that it could not ask, for example."""

    series: tuple[Series, ...]
    warnings: tuple[str, ...] = ()

    @property
    def samples(self) -> int:
        """Samples of all series."""
        return sum(len(series.samples) for series in self.series)

    def document(self) -> dict[str, Any]:
        """As Prometheus itself answers a range query."""
        found = [{"metric": dict(one.labels), "values": [list(pair) for pair in one.samples]} for one in self.series]
        told: dict[str, Any] = {"status": "success", "data": {"resultType": "matrix", "result": found}}
        return {**told, "warnings": list(self.warnings)} if self.warnings else told


def read_answer(body: Mapping[str, Any]) -> Answer:
    """The answer in a ``body`` that says success; an instant one has one sample for each series.

    :raises ClusterError: when it has not the form that Prometheus documents.
    """
    try:
        data = body["data"]
        kind, result = data["resultType"], data["result"]
        if kind in ("scalar", "string"):
            series: tuple[Series, ...] = (Series({}, (_sample(result),)),)
        else:
            series = tuple(_series(item) for item in result)
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise ClusterError(f"what answered is not Prometheus: {type(error).__name__} in its answer") from error
    return Answer(series, tuple(str(warning) for warning in body.get("warnings") or ()))


def joined(answers: Iterable[Answer]) -> Answer:
    """Answers for windows that follow each other, as one."""
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
