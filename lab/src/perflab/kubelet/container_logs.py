"""The logs of simulated containers: the text of an annotation, or a trainer's output so far."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from perflab.kubelet.trainer_logs import log_lines
from perflab.kubelet.training import Simulated, read_simulated

LOG = "lab.psap.perf/log"


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a log: its timestamp as printed, and its actual time."""

    stamp: str
    came: datetime.datetime
    text: str

    def shown(self, stamped: bool) -> str:
        """Return the line as `kubectl logs` shows it, with its timestamp or without."""
        return f"{self.stamp} {self.text}\n" if stamped else f"{self.text}\n"


def render_log(pod: dict[str, Any], container: str, query: dict[str, str], now: datetime.datetime | None = None) -> str:
    """Return the log of one container until *now*, with the options of `kubectl logs` applied.

    Raises ValueError if the container has no log yet, or is not one of the pod's.
    """
    earliest = _earliest(query)
    lines = [line for line in log_of(pod, container, now) if earliest is None or line.came >= earliest]
    if query.get("tailLines", "").isdigit():
        count = int(query["tailLines"])
        lines = lines[len(lines) - count :] if count < len(lines) else lines
    stamped = query.get("timestamps") == "true"
    text = "".join(line.shown(stamped) for line in lines)
    if query.get("limitBytes", "").isdigit():
        text = text.encode()[: int(query["limitBytes"])].decode(errors="ignore")
    return text


def log_of(pod: dict[str, Any], container: str, now: datetime.datetime | None = None) -> list[Line]:
    """Return all lines of a container until *now*.

    Raises ValueError if the container has no log yet, or is not one of the pod's.
    """
    state = _container_status(pod, container).get("state", {})
    annotations = pod["metadata"].get("annotations") or {}
    started = _moment((state.get("running") or state.get("terminated") or {}).get("startedAt", ""))
    simulated = read_simulated(annotations)
    if simulated is not None and LOG not in annotations:
        moment = now or datetime.datetime.now(datetime.UTC)
        return list(_of_trainer(simulated, state, started, moment))
    texts = annotations.get(LOG, _no_program(pod)).splitlines()
    return [Line(_stamp(started), started, text) for text in texts]


def _of_trainer(
    simulated: Simulated, state: dict[str, Any], started: datetime.datetime, now: datetime.datetime
) -> Iterator[Line]:
    """Return a trainer's output: all if it ended by itself, else up to its end or until now."""
    ended = state.get("terminated")
    whole = ended is not None and ended.get("exitCode") == simulated.exit_code
    until = _moment(ended["finishedAt"]) if ended else now
    for line in log_lines(simulated, started):
        came = started + datetime.timedelta(seconds=line.at_s / simulated.speed)
        # the clocks have whole seconds: the last lines belong to the end in any case
        if not whole and (came > until or line.at_s >= simulated.duration_s):
            return
        stamp = _stamp(started + datetime.timedelta(seconds=line.at_s))
        yield Line(stamp, came, line.text)


def has_ended(pod: dict[str, Any], container: str) -> bool:
    """Return whether the log is complete."""
    return "terminated" in _container_status(pod, container).get("state", {})


def _container_status(pod: dict[str, Any], container: str) -> dict[str, Any]:
    status = pod.get("status", {})
    known = [*status.get("containerStatuses", []), *status.get("initContainerStatuses", [])]
    found: dict[str, Any] = next((item for item in known if item["name"] == container), {})
    state = found.get("state", {})
    if "running" in state or "terminated" in state:
        return found
    reason = state.get("waiting", {}).get("reason", "ContainerCreating")
    pod_name = pod["metadata"]["name"]
    raise ValueError(f'container "{container}" in pod "{pod_name}" is waiting to start: {reason}')


def _moment(text: str) -> datetime.datetime:
    return datetime.datetime.fromisoformat(text)


def _stamp(moment: datetime.datetime) -> str:
    return moment.isoformat().replace("+00:00", "Z")


def _earliest(query: dict[str, str]) -> datetime.datetime | None:
    if query.get("sinceSeconds", "").isdigit():
        return datetime.datetime.now(datetime.UTC) - datetime.timedelta(seconds=int(query["sinceSeconds"]))
    since = query.get("sinceTime")
    return _moment(since) if since else None


def _no_program(pod: dict[str, Any]) -> str:
    name = f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"
    return f"{name} is simulated: no program ran. Its annotation {LOG} would be shown here."
