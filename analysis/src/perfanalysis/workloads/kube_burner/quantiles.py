"""kube-burner's quantile documents, each number beside the one that follows from the samples.

kube-burner gives its samples, whole milliseconds, to Percentile of montanaflynn/stats and cuts the result to whole
milliseconds. Up to its version 0.7.1 that takes the mean of two neighbours (the percentile method `kube-burner`),
later ones interpolate (`linear`); both are tried. A difference of up to 1 ms is the cut.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from perfanalysis.files.documents import text_or_none
from perfanalysis.workloads.kube_burner.documents import CONDITIONS, PODS, QUANTILES, STATISTICS, job_of, milliseconds
from perfanalysis.workloads.percentiles import METHODS, Method, percentile

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

TOLERANCE_MS = 1.0
SHARES = {"P50": 0.50, "P95": 0.95, "P99": 0.99}
POD_MEASUREMENT = PODS.removesuffix("Measurement")
Row = dict[str, Any]


@dataclass(frozen=True)
class Quantiles:
    """One document: its numbers in milliseconds, the samples it is of, and the method that comes nearest to it."""

    measurement: str
    job: str | None
    condition: str | None
    reported: Mapping[str, float]
    samples: NDArray[np.float64] | None
    method: Method

    def computed(self, statistic: str) -> float | None:
        """What the samples give for a statistic; None without samples."""
        return None if self.samples is None else computed(self.samples, statistic, self.method)

    def difference(self, statistic: str) -> float | None:
        """How far the document is from its samples."""
        value = self.computed(statistic)
        return None if value is None else abs(self.reported[statistic] - value)

    @property
    def farthest(self) -> float | None:
        """The largest of its differences."""
        differences = [self.difference(statistic) for statistic in self.reported]
        return max((value for value in differences if value is not None), default=None)


def read_quantiles(records: Iterable[Mapping[str, Any]], pods: Sequence[Row]) -> Iterator[Quantiles]:
    """The documents, each with the pods of the same job as its samples."""
    samples = _samples(pods)
    for record in records:
        measurement = (text_or_none(record.get("metricName")) or f"{POD_MEASUREMENT}{QUANTILES}").removesuffix(
            QUANTILES
        )
        job, condition = job_of(record), text_or_none(record.get("quantileName"))
        given = ((statistic, milliseconds(measurement, record.get(statistic))) for statistic in STATISTICS)
        reported = {statistic: value for statistic, value in given if value is not None}
        own = samples.get((job, condition)) if measurement == POD_MEASUREMENT else None
        candidates = [Quantiles(measurement, job, condition, reported, own, method) for method in METHODS]
        # of methods that explain it equally well that of the tool itself
        yield min(candidates, key=lambda one: (_beyond(one.farthest), one.method != "kube-burner"))


def _beyond(difference: float | None) -> float:
    return 0.0 if difference is None or difference <= TOLERANCE_MS else difference


def document_row(found: Quantiles) -> Row:
    """A document in one row."""
    percentiles = found.samples is not None and bool(found.reported.keys() & SHARES.keys())
    return {
        "measurement": found.measurement,
        "job": found.job,
        "condition": found.condition,
        **{f"{name.lower()}_s": _seconds(found.reported.get(name)) for name in STATISTICS},
        "samples": None if found.samples is None else len(found.samples),
        "method": found.method if percentiles else None,
        "farthest_ms": found.farthest,
    }


def quantile_rows(found: Quantiles) -> Iterator[Row]:
    """A row for each number of a document, with what the samples give for it."""
    for statistic, reported in found.reported.items():
        difference = found.difference(statistic)
        yield {
            "measurement": found.measurement,
            "job": found.job,
            "condition": found.condition,
            "statistic": statistic,
            "reported_s": reported / 1000,
            "recomputed_s": _seconds(found.computed(statistic)),
            "agrees": None if difference is None else difference <= TOLERANCE_MS,
        }


def _seconds(value: float | None) -> float | None:
    return None if value is None else value / 1000


def _samples(pods: Sequence[Row]) -> dict[tuple[str | None, str | None], NDArray[np.float64]]:
    """The latencies in milliseconds of each job and condition, in order."""
    import numpy as np

    found: dict[tuple[str | None, str | None], list[float]] = {}
    for pod in pods:
        for condition, (_, column) in CONDITIONS.items():
            if pod[column] is not None:
                found.setdefault((pod["job"], condition), []).append(round(1000 * pod[column], 6))
    return {key: np.sort(np.array(values)) for key, values in found.items()}


def computed(samples: NDArray[np.float64], statistic: str, method: Method) -> float | None:
    """A statistic of samples in order; None where a method has no answer for so few."""
    if statistic in SHARES:
        try:
            return percentile(samples, SHARES[statistic], method)
        except ValueError:
            return None
    plain = {"min": samples[0], "max": samples[-1], "avg": samples.mean()}
    return float(plain[statistic])


def disagreements(found: Quantiles) -> Iterator[str]:
    """A sentence for each number that differs from the samples by more than the cut, with both numbers."""
    for statistic, reported in found.reported.items():
        value = found.computed(statistic)
        if value is not None and found.samples is not None and abs(reported - value) > TOLERANCE_MS:
            yield (
                f"{found.job}, {found.condition}: {statistic} is {reported:g} ms in the document, but {value:g} ms from"
                f" its {len(found.samples)} pods"
            )
