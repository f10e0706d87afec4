"""What OpenMetrics demands of samples, and of all samples of a family together."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from perfanalysis.imports.openmetrics.lines import MalformedError
from perfanalysis.imports.openmetrics.model import RESERVED, Family, MetricType, Sample

Group = tuple[tuple[str, str], ...]
NEVER_NEGATIVE = frozenset(("_total", "_created", "_bucket", "_count", "_gcount", "_sum"))
WITH_EXEMPLARS = frozenset((("counter", "_total"), ("histogram", "_bucket"), ("gaugehistogram", "_bucket")))
WITHOUT_UNIT = ("info", "stateset")


def check_sample(name: str, kind: MetricType, sample: Sample, *, exemplar: bool) -> None:
    """Raise MalformedError for a sample that its type does not allow."""
    shown = name + sample.ending
    label = RESERVED.get((kind, sample.ending))
    if label is not None and label not in sample.labels:
        raise MalformedError(f"{shown} of a {kind} needs the label {label}")
    if exemplar and (kind, sample.ending) not in WITH_EXEMPLARS:
        raise MalformedError(f"{shown} of the type {kind} can have no exemplar")
    if sample.ending in NEVER_NEGATIVE and not sample.value >= 0:
        raise MalformedError(f"{shown} cannot be {sample.value}")
    if sample.ending in ("_bucket", "_count", "_gcount") and not _is_whole(sample.value):
        raise MalformedError(f"{shown} must be a whole number, not {sample.value}")
    if kind == "info" and sample.value != 1:
        raise MalformedError(f"{shown} of an info must be 1, not {sample.value}")
    if kind == "stateset" and (name not in sample.labels or sample.value not in (0, 1)):
        raise MalformedError(f"{shown} of a stateset needs the label {name} and the value 0 or 1")
    if label is not None:
        _check_bound(shown, label, sample)


def _is_whole(value: float) -> bool:
    return math.isfinite(value) and value == math.floor(value)


def _check_bound(shown: str, label: str, sample: Sample) -> None:
    bound = _number(sample.labels[label])
    if bound is None or math.isnan(bound):
        raise MalformedError(f"the label {label} of {shown} must be a number, not {sample.labels[label]!r}")
    if label == "quantile" and not 0 <= bound <= 1:
        raise MalformedError(f"the quantile of {shown} must be 0 to 1, not {bound}")
    if label == "quantile" and sample.value < 0:
        raise MalformedError(f"a quantile of {shown} cannot be {sample.value}")


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def check_family(family: Family) -> None:
    """Raise MalformedError when samples are there twice, out of order, mixed with those of others, or contradict."""
    if family.unit and family.type in WITHOUT_UNIT:
        raise MalformedError(f"{family.name} of the type {family.type} can have no unit")
    last: dict[tuple[str, Group], float | None] = {}
    finished: set[Group] = set()
    current: Group | None = None
    stamped = False
    for sample in family.samples:
        group = _group(family, sample)
        if group != current:
            if group in finished:
                raise MalformedError(f"samples of {family.name} with the same labels must stand together")
            if current is not None:
                finished.add(current)
            current, stamped = group, sample.at_s is not None
        if stamped != (sample.at_s is not None):
            raise MalformedError(f"samples of {family.name} with the same labels have all a timestamp, or none")
        _check_order(family.name, sample, last)
    if family.type in ("histogram", "gaugehistogram"):
        for points in _histograms(family):
            _check_histogram(family, points)


def _group(family: Family, sample: Sample) -> Group:
    """The labels that all samples of one metric share."""
    own = {"le", "quantile"} if family.type in ("histogram", "gaugehistogram", "summary") else set()
    own |= {family.name} if family.type == "stateset" else set()
    return tuple(sorted((name, text) for name, text in sample.labels.items() if name not in own))


def _check_order(name: str, sample: Sample, last: dict[tuple[str, Group], float | None]) -> None:
    series = (sample.ending, tuple(sorted(sample.labels.items())))
    if series in last:
        before = last[series]
        if before is None or sample.at_s is None:
            raise MalformedError(f"{name}{sample.ending} with the same labels is there twice")
        if sample.at_s <= before:
            raise MalformedError(f"the timestamps of {name}{sample.ending} do not increase")
    last[series] = sample.at_s


def _histograms(family: Family) -> Iterator[list[Sample]]:
    """The samples of each histogram at each moment."""
    found: dict[tuple[Group, float | None], list[Sample]] = {}
    for sample in family.samples:
        found.setdefault((_group(family, sample), sample.at_s), []).append(sample)
    yield from found.values()


def _check_histogram(family: Family, points: list[Sample]) -> None:
    buckets = [(float(point.labels["le"]), point.value) for point in points if point.ending == "_bucket"]
    last = next((point.labels["le"] for point in reversed(points) if point.ending == "_bucket"), "")
    bounds, counts = [bound for bound, _ in buckets], [count for _, count in buckets]
    if last != "+Inf" or bounds != sorted(set(bounds)):
        raise MalformedError(f'buckets of {family.name} must increase, the last with le="+Inf"')
    if counts != sorted(counts):
        raise MalformedError(f"buckets of {family.name} are cumulative: none can be less than the one before")
    if bounds[0] >= 0 and any(point.ending == "_gsum" and point.value < 0 for point in points):
        raise MalformedError(f"{family.name}_gsum cannot be below 0 where no bucket is")
    totals: Mapping[str, float] = {point.ending: point.value for point in points}
    for ending, other in (("_count", "_sum"), ("_gcount", "_gsum")):
        if (ending in totals) != (other in totals):
            raise MalformedError(f"{family.name}{ending} and {family.name}{other} come together")
        if ending in totals and totals[ending] != counts[-1]:
            raise MalformedError(f"{family.name}{ending} is {totals[ending]:g}, but its last bucket {counts[-1]:g}")
