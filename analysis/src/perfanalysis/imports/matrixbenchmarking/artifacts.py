"""The contents of a test of MatrixBenchmarking: environment, Kubernetes objects, and the fine-tuning job."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from perfanalysis.files.documents import (
    Document,
    any_number,
    iso,
    listing,
    load_json,
    mapping,
    parse_time,
    text_or_none,
)
from perfanalysis.files.findings import Finding
from perfanalysis.imports.matrixbenchmarking.tree import present, read_yaml
from perfanalysis.imports.run_directory import Recording
from perfanalysis.workloads.fine_tuning.job import KIND, MARKER
from perfanalysis.workloads.kubernetes_objects.model import MARKER as LIST_MARKER
from perfanalysis.workloads.kubernetes_objects.model import SCHEMA

LARGEST_LINE = 4096


@dataclass(frozen=True)
class Environment:
    """Versions and names of a test; None if its directory does not contain them."""

    uuid: str | None = None
    openshift: str | None = None
    rhoai: str | None = None
    presets: tuple[str, ...] = ()
    nodes: Path | None = None

    @property
    def versions(self) -> dict[str, str]:
        """Return the known versions."""
        named = {"openshift": self.openshift, "rhoai": self.rhoai}
        return {name: version for name, version in named.items() if version is not None}


class Environments:
    """Reads the environment of each test; a configuration that many tests share is read once."""

    def __init__(self) -> None:
        self._read: dict[bytes, Any] = {}

    def of(self, files: Iterable[Path]) -> Environment:
        """Return the environment in the files of a test; of several files with one name, the first path is used."""
        found: dict[str, Path] = {}
        for path in files:
            found.setdefault("ocp_version" if path.name.startswith("ocp_version.y") else path.name, path)
        config = mapping(self._yaml(found.get("config.yaml")))
        catalog = mapping(mapping(config.get("rhods")).get("catalog"))
        names = mapping(config.get("ci_presets")).get("names")
        version = mapping(self._yaml(found.get("ocp_version"))).get("openshiftVersion")
        return Environment(
            uuid=_line(found.get(".uuid")),
            openshift=text_or_none(version),
            rhoai=_composed(found, text_or_none(catalog.get("version_name"))),
            presets=tuple(str(name) for name in names) if isinstance(names, list) else (),
            nodes=found.get("nodes.json"),
        )

    def _yaml(self, path: Path | None) -> Any:
        if path is None:
            return None
        try:
            content = path.read_bytes()
            if content not in self._read:
                self._read[content] = read_yaml(path)
        except (OSError, ValueError):
            return None
        return self._read[content]


def _composed(found: dict[str, Path], name: str | None) -> str | None:
    """Return the version, with the name of its catalog and its build date: 2.13.0-rc1+2026-01-01."""
    version, created = _line(found.get("rhods.version")), _line(found.get("rhods.createdAt"))
    if version is None:
        return None
    return version + (f"-{name}" if name else "") + (f"+{created[:10]}" if created else "")


def _line(path: Path | None) -> str | None:
    """Return the first line of a file; None if it is missing."""
    if path is None:
        return None
    try:
        with path.open(encoding="utf-8", errors="replace") as stream:
            return stream.readline(LARGEST_LINE).strip() or None
    except OSError:
        return None


LISTS = (
    "pods.json",
    "jobs.json",
    "pytorchjob.json",
    "pytorchjobs.json",
    "mpijobs.json",
    "rayjobs.json",
    "jobsets.json",
    "appwrappers.json",
    "workloads.json",
)
"""TOPSAIL's names for lists of pods and jobs."""
NODES = "nodes.json"
CREATION = re.compile(rb'"creationTimestamp"\s*:\s*"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)"')
START_END = "start_end_cm.yaml"
"""A list of two ConfigMaps, whose creation marks the start and the end of a test."""


def kubernetes_objects(folder: Path, environment: Environment) -> Recording | None:
    """Return the recording in one directory of a test; None if it has no lists."""
    lists: dict[str, Path | bytes] = {**present(folder, LISTS)}
    if not lists:
        return None
    if environment.nodes is not None:
        lists[NODES] = environment.nodes
    started_s, ended_s, findings = _marked(folder / START_END)
    document = {
        "schema": SCHEMA,
        "test": folder.name,
        "uuid": environment.uuid,
        "started": iso(started_s),
        "ended": iso(ended_s),
    }
    lists[LIST_MARKER] = json.dumps(document, indent=1).encode() + b"\n"
    begun_s = _first_creation(present(folder, LISTS).values()) if started_s is None else started_s
    return Recording(folder.name, lists, started_s=begun_s, ended_s=ended_s, findings=findings)


def _first_creation(paths: Iterable[Path]) -> float | None:
    """Return when the first of the listed objects was created, to date a test without other times."""
    try:
        stamps = [stamp for path in paths for stamp in CREATION.findall(path.read_bytes())]
    except OSError:
        return None
    return parse_time(min(stamps).decode()) if stamps else None


def _marked(path: Path) -> tuple[float | None, float | None, tuple[Finding, ...]]:
    try:
        found = dict(_creations(read_yaml(path)))
    except FileNotFoundError:
        return None, None, ()
    except (OSError, ValueError) as error:
        return None, None, (Finding("warning", path.name, f"begin and end of the test are unknown: {error}"),)
    return found.get("start"), found.get("end"), ()


def _creations(value: Any) -> Iterator[tuple[str | None, float | None]]:
    for item in listing(mapping(value).get("items")):
        metadata = mapping(mapping(item).get("metadata"))
        yield text_or_none(metadata.get("name")), parse_time(metadata.get("creationTimestamp"))


CONFIGURATION, PLAY = "src/config_final.json", "_ansible.play.yaml"


@dataclass(frozen=True)
class Command:
    """A command of TOPSAIL: the suffix of its directories, the prefix of its arguments, its pod and the pod's log."""

    directory: str
    argument: str
    pod: str
    log: str
    workload: str | None
    """The workload; None if an argument states it."""


COMMANDS = (
    Command(
        "__fine_tuning__run_fine_tuning_job",
        "fine_tuning_run_fine_tuning_job_",
        "artifacts/pod.json",
        "artifacts/pod.log",
        None,
    ),
    Command(
        "__fine_tuning__ray_fine_tuning_job",
        "fine_tuning_ray_fine_tuning_job_",
        "artifacts/job_pod.json",
        "artifacts/job_pod.log",
        "ray",
    ),
)
LOG = "logs/trainer.log"
MOST_OF_A_MESSAGE = 500
MODES = {"fms": "sft", "ilab": "train", "ray": "ray-job"}


def fine_tuning_job(folder: Path, _: Environment) -> Recording | None:
    """Return the recording in one directory of a test; None if another command wrote it."""
    command = next((each for each in COMMANDS if folder.name.endswith(each.directory)), None)
    if command is None:
        return None
    files = present(folder, (CONFIGURATION, PLAY, command.pod, command.log))
    reader = _Reader(files)
    pod = reader.json(command.pod)
    arguments = reader.arguments(command.argument)
    document = _document(command, arguments, reader.json(CONFIGURATION), pod)
    document["logs"] = [LOG] if command.log in files else []
    contents: dict[str, Path | bytes] = {MARKER: json.dumps(document, indent=1).encode() + b"\n"}
    if command.log in files:
        contents[LOG] = files[command.log]
    return Recording(
        folder.name,
        contents,
        started_s=document["started_s"],
        ended_s=document["ended_s"],
        error=document["reason"],
        findings=tuple(reader.findings),
    )


class _Reader:
    def __init__(self, files: Mapping[str, Path]) -> None:
        self.files = files
        self.findings: list[Finding] = []

    def json(self, name: str) -> Document:
        """Return a JSON file as a mapping; empty, with a finding, if it cannot be read."""
        try:
            return mapping(load_json(self.files[name].read_bytes()))
        except KeyError:
            self.findings.append(Finding("warning", name, "the file is missing"))
        except (OSError, ValueError) as error:
            self.findings.append(Finding("warning", name, f"the file cannot be read: {error}"))
        return {}

    def arguments(self, prefix: str) -> dict[str, Any]:
        """Return the arguments of the command, from the play that TOPSAIL wrote for it."""
        try:
            plays = read_yaml(self.files[PLAY])
        except KeyError:
            return {}
        except (OSError, ValueError) as error:
            self.findings.append(Finding("warning", PLAY, f"the file cannot be read: {error}"))
            return {}
        given = mapping(mapping(plays[0] if isinstance(plays, list) and plays else plays).get("vars"))
        return {name.removeprefix(prefix): value for name, value in given.items() if name.startswith(prefix)}


def _document(command: Command, given: Mapping[str, Any], configuration: Document, pod: Document) -> dict[str, Any]:
    metadata = mapping(pod.get("metadata"))
    container = _first(mapping(pod.get("spec")).get("containers"))
    end = _end(pod)
    asked = given.get("workload")
    workload = command.workload or str(asked or "fms")
    return {
        "schema": f"psap.perf/{KIND}/1",
        "job": str(given.get("name") or metadata.get("name") or "unknown"),
        "namespace": str(given.get("namespace") or metadata.get("namespace") or "unknown"),
        "workload": workload,
        "mode": str(
            given.get("workload") if command.workload and given.get("workload") else MODES.get(workload, "train")
        ),
        "phase": "",
        "container_image": str(given.get("container_image") or container.get("image") or "unknown"),
        "model": text_or_none(given.get("model_name")),
        "dataset": text_or_none(given.get("dataset_name")),
        "dataset_replication": _positive(given.get("dataset_replication")),
        "pods": _whole(given.get("pod_count")) or 1,
        "gpus_per_pod": _gpus(given, container),
        "gpu_product": None,
        "hyper_parameters": mapping(given.get("hyper_parameters")),
        "configuration": configuration,
        "created_s": parse_time(metadata.get("creationTimestamp")),
        **end,
        "lab": None,
    }


def _end(pod: Document) -> dict[str, Any]:
    """Return when the main container began and ended, and how; a pod that had not ended was interrupted."""
    state = mapping(_first(mapping(pod.get("status")).get("containerStatuses")).get("state"))
    ended, running = mapping(state.get("terminated")), mapping(state.get("running"))
    code = _whole(ended.get("exitCode"))
    outcome = "interrupted" if code is None else "failed" if code else "completed"
    message = text_or_none(ended.get("message"))
    failed = f"exit code {code}" + (f": {message[:MOST_OF_A_MESSAGE]}" if message else "")
    reasons = {"completed": None, "failed": failed, "interrupted": "the pod had not ended when it was captured"}
    return {
        "started_s": parse_time(ended.get("startedAt") or running.get("startedAt")),
        "ended_s": parse_time(ended.get("finishedAt")),
        "outcome": outcome,
        "reason": reasons[outcome],
        "exit_code": code,
    }


def _gpus(given: Mapping[str, Any], container: Document) -> int:
    asked = _whole(given.get("gpu"))
    limits = mapping(mapping(container.get("resources")).get("limits"))
    return asked if asked is not None else _whole(limits.get("nvidia.com/gpu")) or 0


def _first(value: object) -> Document:
    return mapping(value[0]) if isinstance(value, list) and value else {}


def _positive(value: object) -> float | None:
    number = any_number(value)
    return number if number is not None and 0 < number < 1e9 else None


def _whole(value: object) -> int | None:
    text = str(value)
    return int(text) if text.isdecimal() and len(text) < 10 and not isinstance(value, bool) else None
