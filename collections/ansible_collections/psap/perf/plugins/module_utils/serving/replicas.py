"""The replicas of a model over time: how they follow a load, and how a new version replaces them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.waiting.predicates import pod_ready

AUTOSCALE, ROLLOUT = "autoscale", "rollout"
SAMPLES_FILE, STOP_FILE = "replica_samples.jsonl", "replica_samples.stop"
_REVISION = "pod-template-hash"

Object = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Sample:
    """The replicas at a time.

    Attributes:
        at_s: Seconds since the epoch.
        wanted: The replicas that the Deployment requests.
        pods: Pods that are not ending.
        ready: Those of them that are Ready.
        ready_new: Those of the Ready pods whose version is new.
    """

    at_s: float
    wanted: int
    pods: int
    ready: int
    ready_new: int

    @property
    def ready_old(self) -> int:
        """Return the Ready pods of the version from before."""
        return self.ready - self.ready_new


def revisions(pods: Sequence[Object]) -> frozenset[str]:
    """Return the versions of the template of *pods*."""
    return frozenset(map(_revision, pods))


def sample_of(at_s: float, deployment: Object, pods: Sequence[Object], old: Collection[str]) -> Sample:
    """Return the replicas of a Deployment; *old* are the versions from before."""
    staying = [pod for pod in pods if not pod["metadata"].get("deletionTimestamp")]
    ready = [pod for pod in staying if pod_ready(pod).reached]
    new = sum(_revision(pod) not in old for pod in ready)
    return Sample(at_s, int(deployment["spec"].get("replicas", 1)), len(staying), len(ready), new)


def _revision(pod: Object) -> str:
    return str((pod["metadata"].get("labels") or {}).get(_REVISION, ""))


@dataclass(frozen=True, slots=True)
class ScaleMoments:
    """When replicas followed a step of the load; None for a moment that was not reached.

    Attributes:
        base: The Ready replicas at the step.
        wanted: The largest number of replicas that was wanted from the step to the end of the load.
        first_s: The first additional replica was Ready.
        reached_s: All wanted replicas were Ready.
        down_s: The replicas were as few as at the step again, after the load.
    """

    base: int
    wanted: int
    first_s: float | None
    reached_s: float | None
    down_s: float | None


def scale_moments(samples: Sequence[Sample], step_s: float, end_s: float) -> ScaleMoments:
    """Return when the replicas followed a load that began at *step_s* and ended at *end_s*."""
    before = [sample.ready for sample in samples if sample.at_s <= step_s]
    base = before[-1] if before else samples[0].ready
    during = [sample for sample in samples if sample.at_s > step_s]
    wanted = max((sample.wanted for sample in during if sample.at_s <= end_s), default=base)
    if wanted <= base:
        return ScaleMoments(base, wanted, None, None, None)
    reached = _first(during, lambda sample: sample.ready >= wanted)
    after = [sample for sample in samples if sample.at_s >= max(end_s, reached or end_s)]
    return ScaleMoments(
        base, wanted, _first(during, lambda sample: sample.ready > base), reached,
        _first(after, lambda sample: sample.ready <= base),
    )  # fmt: skip


def rolled_out_at(samples: Sequence[Sample], change_s: float) -> float | None:
    """Return when only the new version was Ready, in the wanted number; None if that was not reached."""
    after = [sample for sample in samples if sample.at_s >= change_s]
    return _first(after, lambda sample: sample.ready_old == 0 and sample.ready_new >= max(sample.wanted, 1))


def _first(samples: Sequence[Sample], holds: Callable[[Sample], bool]) -> float | None:
    return next((sample.at_s for sample in samples if holds(sample)), None)


def is_settled(samples: Sequence[Sample], mode: str, change_s: float | None) -> bool:
    """Return whether nothing more is to be expected after the load: the rollout is done, or the replicas are back."""
    if mode == ROLLOUT:
        return change_s is not None and rolled_out_at(samples, change_s) is not None
    return samples[-1].ready <= samples[0].ready and samples[-1].wanted <= samples[0].wanted


def phases(
    samples: Sequence[Sample], mode: str, change_s: float | None
) -> Callable[[float, float], dict[str, tuple[float, float]]]:
    """Return the function of the load's start and end that returns the phases of the load."""

    def of_load(begin_s: float, end_s: float) -> dict[str, tuple[float, float]]:
        if mode == ROLLOUT:
            first, second = change_s, rolled_out_at(samples, change_s) if change_s else None
            names = ("before", "during", "after")
        else:
            first, second = begin_s, scale_moments(samples, begin_s, end_s).reached_s
            names = ("before", "scaling", "scaled")
        edges = [begin_s, *(min(max(each or end_s, begin_s), end_s) for each in (first, second)), end_s + 0.001]
        return {name: period for name, period in zip(names, _pairs(edges), strict=True) if period[1] > period[0]}

    return of_load


def _pairs(edges: Sequence[float]) -> Iterator[tuple[float, float]]:
    return itertools.pairwise(edges)
