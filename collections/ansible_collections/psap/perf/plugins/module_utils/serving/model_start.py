"""The steps of a served model's start, from timestamps of objects: the document ``model_start.json``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from math import floor
from pathlib import Path
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.clock import WHOLE_SECONDS, parse_utc, stamp
from ansible_collections.psap.perf.plugins.module_utils.base.documents import command_files, read_json
from ansible_collections.psap.perf.plugins.module_utils.waiting.verdicts import condition

SCHEMA = "psap.perf/model-start/1"
FILE = "model_start.json"
SERVERS = ("kserve-container", "main")
"""KServe's names of the serving container in pods of an InferenceService and of an LLMInferenceService."""

# the clocks of timestamps
COMMAND, API_SERVER, SCHEDULER, KUBELET, KSERVE = "the command", "API server", "scheduler", "kubelet", "KServe"

# resolutions of the command's own moments: it requests the first answer at this interval
_OWN = {"applied": 0.001, "deleted": 0.001, "first answer": 0.2}
# maximum delay of a watch
_WATCHED_S = 0.05
# all moments that it sees, in their order
_SEEN = (
    "applied",
    "deleted",
    "pod created",
    "scheduled",
    "model downloaded",
    "image pulled",
    "container started",
    "model loaded",
    "ready",
    "first answer",
)

Object = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Moment:
    """The time of an event.

    Attributes:
        at_s: Seconds since the epoch.
        resolution_s: The resolution to which the timestamp is truncated.
    """

    name: str
    at_s: float
    clock: str
    resolution_s: float


@dataclass(frozen=True, slots=True)
class Step:
    """The time between two known moments, named after the second; *resolution_s* is the coarser timestamp's."""

    step: str
    after: str
    begin_s: float
    end_s: float
    took_s: float
    clock: str
    resolution_s: float


@dataclass(frozen=True, slots=True)
class ServiceObjects:
    """The cluster's objects of a start, and the moments that the command saw.

    Attributes:
        events: Events of the namespace, of the core API.
        seen: Moments by the command's clock, by name, as UTC texts; empty if not seen.
    """

    service: Object
    pods: Sequence[Object]
    events: Sequence[Object]
    seen: Mapping[str, str]


def document(asked: Mapping[str, Any], observed: ServiceObjects) -> dict[str, Any]:
    """Return ``model_start.json``: *asked*, the service, and the steps by the cluster's and by the command's clocks."""
    pod = first_ready(observed.pods)
    stamped = [*_of_service_and_pod(observed.service, pod, observed.events)]
    metadata, state = observed.service["metadata"], condition(observed.service, "Ready") or {}
    return {
        "schema": SCHEMA,
        "service": metadata["name"],
        "namespace": metadata["namespace"],
        **asked,
        "image": asked["image"] or _server(pod).get("image", ""),
        "pod": pod["metadata"]["name"] if pod else None,
        "restarts": _server(pod).get("restartCount", 0),
        "ready": state.get("status") == "True",
        "steps": [asdict(step) for step in steps(stamped)],
        "seen": [asdict(step) for step in seen_steps(observed.seen)],
    }


def of_earlier_attempt(
    run: Path, cell: int | None, found: Mapping[str, Any]
) -> tuple[Sequence[Mapping[str, Any]], str | None]:
    """Return the steps of the same start that a command of an earlier attempt saw, and its directory in the run.

    A resumed run finds the model that a killed attempt deployed, and does not see its start. It is the same start if
    the same pod was ready first, and its server has not been restarted.

    Args:
        run: The directory of the entire run.
        cell: The cell of the command.
        found: The document of the model that exists now.

    Returns:
        No steps and None if no command saw the start.
    """
    for status in command_files(run, "status.json"):
        path = status.parent / "artifacts" / FILE
        if path.exists() and read_json(status)["cell"] == cell:
            earlier = read_json(path)
            if _is_seen_start(earlier, found):
                return earlier["seen"], str(status.parent.relative_to(run))
    return [], None


def _is_seen_start(earlier: Mapping[str, Any], found: Mapping[str, Any]) -> bool:
    same = all(earlier[name] == found[name] for name in ("namespace", "service", "pod", "restarts"))
    return same and found["pod"] is not None and any(step["after"] == "applied" for step in earlier["seen"])


def seen_steps(seen: Mapping[str, str]) -> Iterator[Step]:
    """Yield the steps between the moments that a command saw, by name, as UTC texts."""
    return steps([*_seen(seen)])


def steps(moments: Sequence[Moment]) -> Iterator[Step]:
    """Yield the steps between moments, which are in their expected order.

    If one timestamp has full seconds, the other is truncated as well: otherwise a step would be half a second too long
    or too short on average. Timestamps of different clocks can be out of order; such a step is below the resolution: 0.
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
    """Return the pod that was ready first; the oldest if none is ready, None if there are no pods."""

    def order(pod: Object) -> tuple[bool, str, str]:
        ready = _met(pod, "Ready")
        return ready is None, ready or str(pod["metadata"]["creationTimestamp"]), str(pod["metadata"]["name"])

    return min(pods, key=order, default=None)


def _of_service_and_pod(service: Object, pod: Object | None, events: Sequence[Object]) -> Iterator[Moment]:
    yield from _stamped(("service created", API_SERVER, service["metadata"].get("creationTimestamp")))
    if pod is not None:
        yield from of_pod(pod, events)
    yield from _stamped(("ready", KSERVE, _met(service, "Ready")))


def of_pod(pod: Object, events: Sequence[Object]) -> Iterator[Moment]:
    """Return the reached moments of a pod's start, by their timestamps."""
    statuses = pod.get("status", {}).get("initContainerStatuses") or []
    ended = [(each.get("state", {}).get("terminated") or {}).get("finishedAt") for each in statuses]
    return _stamped(
        ("pod created", API_SERVER, pod["metadata"].get("creationTimestamp")),
        ("scheduled", SCHEDULER, _event(events, pod, "Scheduled") or _met(pod, "PodScheduled")),
        ("model downloaded", KUBELET, max((str(at) for at in ended if at), default=None)),
        ("image pulled", KUBELET, _event(events, pod, "Pulled", tuple(f"{{{name}}}" for name in SERVERS))),
        ("container started", KUBELET, (_server(pod).get("state", {}).get("running") or {}).get("startedAt")),
        ("model loaded", KUBELET, _met(pod, "Ready")),
    )


def _stamped(*found: tuple[str, str, str | None]) -> Iterator[Moment]:
    for name, clock, text in found:
        if at := stamp(text):
            yield Moment(name, at.server_s, clock, at.resolution_s)


def _seen(seen: Mapping[str, str]) -> Iterator[Moment]:
    for name in _SEEN:
        if seen.get(name):
            yield Moment(name, parse_utc(seen[name]).timestamp(), COMMAND, _OWN.get(name, _WATCHED_S))


def _met(thing: Object, name: str) -> str | None:
    """Return when a true condition became true; None if it is not true."""
    found = condition(thing, name) or {}
    return found.get("lastTransitionTime") if found.get("status") == "True" else None


def _event(events: Sequence[Object], pod: Object, reason: str, fields: tuple[str, ...] = ("",)) -> str | None:
    """Return the first time of an event about the pod, or its container whose path ends with one of *fields*."""
    texts = [
        event.get("eventTime") or event.get("firstTimestamp") or event.get("lastTimestamp")
        for event in events
        if event.get("reason") == reason
        and event.get("involvedObject", {}).get("uid") == pod["metadata"]["uid"]
        and (event["involvedObject"].get("fieldPath") or "").endswith(fields)
    ]
    return min((str(text) for text in texts if text), default=None)


def _server(pod: Object | None) -> Object:
    """Return the status of the serving container."""
    statuses: Sequence[Object] = (pod or {}).get("status", {}).get("containerStatuses") or []
    return next((each for each in statuses if each.get("name") in SERVERS), {})
