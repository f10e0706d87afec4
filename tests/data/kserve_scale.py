"""Write the documents of a scale test of KServe as the commands of its users do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import yaml
from perfanalysis.files.documents import parse_time

from tests.schemas import check

CELL = "003__cell__0"
DEPLOY, VALIDATE = "kserve_deploy_model", "kserve_validate_model"


def at(second: float) -> str:
    return f"2026-11-26T10:00:{second:06.3f}Z"


def scale(cell: Path, **changed: Any) -> None:
    document = {
        "schema": "psap.perf/kserve-scale/1",
        "model": "phi-2",
        "runtime": "vllm",
        "image": "quay.io/vllm:1",
        "answers_checked": True,
        "users": 3,
        "models_per_user": 2,
        "start_interval_s": 2.0,
        "started": at(0),
        "lab": None,
        **changed,
    }
    check(document)
    cell.mkdir(parents=True)
    (cell / "kserve_scale.json").write_text(json.dumps(document))


def command(
    place: Path, role: str, asked: dict[str, Any], span: tuple[float, float | None], status: str = "ok", error: str = ""
) -> Path:
    """Write a command's documents; return its artifact directory."""
    (place / "artifacts").mkdir(parents=True)
    document = {
        "schema": "psap.perf/command/1",
        "role": role,
        "host": "cell_u",
        "lane": None,
        "cell": 0,
        "status": status,
        "changed": True,
        "started": at(span[0]),
        "ended": None if span[1] is None else at(span[1]),
        "attempt": 1,
        "error": error or None,
    }
    check(document)
    (place / "status.json").write_text(json.dumps(document))
    args = {f"{role}_{name}": value for name, value in asked.items()}
    (place / "args.yml").write_text(yaml.safe_dump({"schema": "psap.perf/args/1", "role": role, "args": args}))
    return place / "artifacts"


def step(name: str, after: str, begin_s: float, end_s: float) -> dict[str, Any]:
    times = {"begin_s": begin_s, "end_s": end_s, "took_s": end_s - begin_s}
    return {"step": name, "after": after, **times, "clock": "the command", "resolution_s": 0.05}


def model(lane: Path, number: int, user: str, begun: float, ready: float, answered: float) -> None:
    """Write a served model: ready and first answered this many seconds after its deployment began."""
    service, namespace = f"phi-2-m{number}", f"models-{user}"
    asked = {"namespace": namespace, "inference_service_name": service}
    artifacts = command(lane / f"00{2 * number + 1}__kserve__deploy_model", DEPLOY, asked, (begun, begun + answered))
    zero = 1_790_000_000.0 + begun
    seen = [
        step("scheduled", "applied", zero, zero + 0.5),
        step("ready", "scheduled", zero + 0.5, zero + ready),
        step("first answer", "ready", zero + ready, zero + answered),
    ]
    start = {"service": service, "namespace": namespace, "model": "phi-2", "runtime": "vllm", "image": "quay.io/vllm:1"}
    common = {"schema": "psap.perf/model-start/1", **start, "pod": "a", "restarts": 0, "ready": True}
    document = {**common, "steps": [], "seen": seen}
    check(document)
    (artifacts / "model_start.json").write_text(json.dumps(document))
    place = lane / f"00{2 * number + 2}__kserve__validate_model"
    asked_again = {"namespace": namespace, "inference_service_names": [service]}
    artifacts = command(place, VALIDATE, asked_again, (begun + answered, begun + answered + 1))
    answer = {"prompt": "Why?", "text": "So.", "prompt_tokens": 1, "completion_tokens": 1, "took_s": 0.25}
    answers = {"schema": "psap.perf/answers/1", "url": "http://a", "model": service, "answers": [answer]}
    check(answers)
    (artifacts / service).mkdir()
    (artifacts / service / "answers.json").write_text(json.dumps(answers))


def write_pods(run: Path) -> None:
    """Write a user in a pod, which has its own run; its start was 7 s after that of the cell."""
    cell = run / CELL
    scale(cell, users=1, models_per_user=1, users_as="pods")
    artifacts = cell / "001__local_ci__run_multi/artifacts"
    model(artifacts / "user-0/kserve-1/001__cell__0", 0, "u0", 9, 4, 5)
    for place, values in ((cell, {"kserve_users": 1}), (artifacts / "user-0/kserve-1/001__cell__0", {})):
        document = {"schema": "psap.perf/cell/1", "index": 0, "name": "", "values": values, "status": "ok"}
        (place / "cell.json").write_text(json.dumps(document))
    (artifacts / "users.json").write_text(json.dumps(users_document(parse_time(at(7)) or 0.0)))


def users_document(go_at_s: float) -> dict[str, Any]:
    """Return the document of users in pods."""
    user = {"index": 0, "name": "user-0", "outcome": "success", "launch_at_s": go_at_s, "end_at_s": go_at_s + 9}
    return {
        "schema": "psap.perf/users/1",
        "command": "perfdrv run kserve",
        "user_count": 1,
        "batch_size": 1,
        "batch_delay_s": 0.0,
        "barrier_timeout_s": 60.0,
        "go_at_s": go_at_s,
        "users": [user],
        "lab": None,
    }


def write_scale_test(run: Path) -> None:
    """Write three users: u0's models are served, u1's second one fails, and u2 is killed in its first."""
    cell = run / CELL
    scale(cell)
    model(cell / "001__lane__u0", 0, "u0", 0, 4, 5)
    model(cell / "001__lane__u0", 1, "u0", 6, 6, 8)
    both = {"namespace": "models-u0", "inference_service_names": ["phi-2-m0", "phi-2-m1"]}
    command(cell / "001__lane__u0/005__kserve__validate_model", VALIDATE, both, (15, 16))
    model(cell / "002__lane__u1", 0, "u1", 2.5, 8, 9)
    asked = {"namespace": "models-u1", "inference_service_name": "phi-2-m1"}
    place = cell / "002__lane__u1/003__kserve__deploy_model"
    command(place, DEPLOY, asked, (13, 40), "failed", "no node fits")
    asked = {"namespace": "models-u2", "inference_service_name": "phi-2-m0"}
    command(cell / "003__lane__u2/001__kserve__deploy_model", DEPLOY, asked, (4, None), "running")
