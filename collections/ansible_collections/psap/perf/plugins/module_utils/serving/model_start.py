"""The steps of a served model's start, as the cluster's objects stamp them: the document ``model_start.json``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from math import floor
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.clock import WHOLE_SECONDS, parse_utc, stamp
from ansible_collections.psap.perf.plugins.module_utils.waiting.verdicts import condition

SCHEMA = "psap.perf/model-start/1"
FILE = "model_start.json"
SERVER = "kserve-container"

# whose clock stamped a moment
COMMAND, API_SERVER, SCHEDULER, KUBELET, KSERVE = "the command", "API server", "scheduler", "kubelet", "KServe"

Object = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Moment:
    """When something had happened.

    :param at_s: seconds since the epoch.
    :param resolution_s: what the stamp is truncated to.
    """

    name: str
    at_s: float
    clock: str
    resolution_s: float


@dataclass(frozen=True, slots=True)
class Step:
    """From one moment to the next that is known, by which it is named; *resolution_s* is that of the coarser stamp."""

    step: str
    after: str
    begin_s: float
    end_s: float
    took_s: float
    clock: str
    resolution_s: float


@dataclass(frozen=True, slots=True)
class Observed:
    """What the cluster shows of a start, and what the command saw.

    :param events: of the namespace, of the core API.
    :param seen: moments by the command's own clock, by name, as UTC texts: ``applied``, ``scheduled``, ``ready``; empty
        for what it did not see.
    """

    service: Object
    pods: Sequence[Object]
    events: Sequence[Object]
    seen: Mapping[str, str]


def document(asked: Mapping[str, Any], observed: Observed) -> dict[str, Any]:
    """``model_start.json``: *asked*, what is served, the steps by the cluster's clocks, and those by the command's."""
    pod = first_ready(observed.pods)
    stamped = [*_of_service_and_pod(observed.service, pod, observed.events)]
    metadata, state = observed.service["metadata"], condition(observed.service, "Ready") or {}
    return {
        "schema": SCHEMA,
        "service": metadata["name"],
        "namespace": metadata["namespace"],
        **asked,
        "pod": pod["metadata"]["name"] if pod else None,
        "restarts": _server(pod).get("restartCount", 0),
        "ready": state.get("status") == "True",
        "steps": [asdict(step) for step in steps(stamped)],
        "seen": [asdict(step) for step in steps([*_seen(observed.seen)])],
    }


def steps(moments: Sequence[Moment]) -> Iterator[Step]:
    """The steps between moments, given in the order in which they have to come.

    Where one stamp is of full seconds, the other is truncated alike: else a step would be half a second too long or
    too short on average. Stamps of different clocks can be out of order; such a step took less than they can tell: 0.
    """
    for before, moment in pairwise(moments):
        resolution_s = max(before.resolution_s, moment.resolution_s)
        begin_s, end_s = before.at_s, moment.at_s
        if resolution_s >= WHOLE_SECONDS:
            begin_s, end_s = floor(begin_s), floor(end_s)
        clock = moment.clock if moment.clock == before.clock else f"{before.clock}, {moment.clock}"
        yield Step(
            step=moment.name,
            after=before.name,
            begin_s=before.at_s,
            end_s=moment.at_s,
            took_s=round(max(end_s - begin_s, 0.0), 6),
            clock=clock,
            resolution_s=resolution_s,
        )


def first_ready(pods: Sequence[Object]) -> Object | None:
    """The pod that was ready first; the oldest while none is, None while there are none."""

    def order(pod: Object) -> tuple[bool, str, str]:
        ready = _met(pod, "Ready")
        return ready is None, ready or str(pod["metadata"]["creationTimestamp"]), str(pod["metadata"]["name"])

    return min(pods, key=order, default=None)


def _of_service_and_pod(service: Object, pod: Object | None, events: Sequence[Object]) -> Iterator[Moment]:
    found = [("service created", API_SERVER, service["metadata"].get("creationTimestamp"))]
    if pod is not None:
        status = pod.get("status", {})
        initial = [each.get("state", {}).get("terminated") or {} for each in status.get("initContainerStatuses") or []]
        downloaded = max((str(each["finishedAt"]) for each in initial if each.get("finishedAt")), default=None)
        found += [
            ("pod created", API_SERVER, pod["metadata"].get("creationTimestamp")),
            ("scheduled", SCHEDULER, _event(events, pod, "Scheduled") or _met(pod, "PodScheduled")),
            ("model downloaded", KUBELET, downloaded),
            ("image pulled", KUBELET, _event(events, pod, "Pulled", f"{{{SERVER}}}")),
            ("container started", KUBELET, (_server(pod).get("state", {}).get("running") or {}).get("startedAt")),
            ("model loaded", KUBELET, _met(pod, "Ready")),
        ]
    found.append(("ready", KSERVE, _met(service, "Ready")))
    for name, clock, text in found:
        if at := stamp(text):
            yield Moment(name, at.server_s, clock, at.resolution_s)


def _seen(seen: Mapping[str, str]) -> Iterator[Moment]:
    for name in ("applied", "scheduled", "ready"):
        if seen.get(name):
            yield Moment(name, parse_utc(seen[name]).timestamp(), COMMAND, 0.001)


def _met(thing: Object, name: str) -> str | None:
    """When a condition that holds became true."""
    found = condition(thing, name) or {}
    return found.get("lastTransitionTime") if found.get("status") == "True" else None


def _event(events: Sequence[Object], pod: Object, reason: str, field: str = "") -> str | None:
    """When an event about the pod, or the container of it that *field* names, first came."""
    texts = [
        event.get("eventTime") or event.get("firstTimestamp") or event.get("lastTimestamp")
        for event in events
        if event.get("reason") == reason
        and event.get("involvedObject", {}).get("uid") == pod["metadata"]["uid"]
        and field in (event["involvedObject"].get("fieldPath") or "")
    ]
    return min((str(text) for text in texts if text), default=None)


def _server(pod: Object | None) -> Object:
    """The status of the container that serves."""
    statuses: Sequence[Object] = (pod or {}).get("status", {}).get("containerStatuses") or []
    return next((each for each in statuses if each.get("name") == SERVER), {})
