"""The commands of a scale test's users: arguments, times and results."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from perfanalysis.files.documents import mapping, parse_time
from perfanalysis.files.recording_files import RecordingFiles

DEPLOY, VALIDATE = "kserve_deploy_model", "kserve_validate_model"
_PODS = "*__local_ci__run_multi/artifacts/users.json"


@dataclass(frozen=True)
class Command:
    """A command of a user; `services` are the InferenceServices that it deploys or queries."""

    directory: str
    user: str
    services: tuple[str, ...]
    status: str
    started_s: float
    ended_s: float | None
    error: str | None


def plan_of(source: RecordingFiles) -> dict[str, Any]:
    """Return the settings of the test; `started_s` is the start of its users, which pods reach after the cell's."""
    (plan,) = source.records("kserve_scale.json")
    (pods, *_) = [*source.records(_PODS), {}]
    return {"users_as": "lanes", **plan, "started_s": pods.get("go_at_s") or parse_time(plan["started"])}


def commands(source: RecordingFiles, role: str) -> Iterator[Command]:
    """Yield all commands of a role that have their documents."""
    for name in source.names(f"**/*__{role.replace('_', '__', 1)}/status.json"):
        directory = name.rpartition("/")[0]
        status = mapping(source.json(name))
        (document, *_) = [*source.records(f"{directory}/args.yml"), {}]
        args = mapping(document.get("args"))
        started_s = parse_time(status.get("started"))
        if started_s is None or not args:
            source.find("error", name, "left out: it states neither its start nor its arguments")
            continue
        yield Command(
            directory=directory,
            # the user's name is the suffix of the namespace
            user=str(args[f"{role}_namespace"]).rpartition("-")[2],
            services=_services(args, role),
            # any other status means that it was killed
            status=status["status"] if status["status"] in ("ok", "failed") else "interrupted",
            started_s=started_s,
            ended_s=parse_time(status.get("ended")),
            error=status["error"],
        )


def _services(args: dict[str, Any], role: str) -> tuple[str, ...]:
    if role == DEPLOY:
        return (args[f"{role}_inference_service_name"],)
    return tuple(args[f"{role}_inference_service_names"])
