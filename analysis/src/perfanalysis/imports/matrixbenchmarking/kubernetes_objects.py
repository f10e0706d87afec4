"""Test directories with lists of Kubernetes objects, such as those of a scheduler's load."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from perfanalysis.files.documents import listing, mapping, parse_time, text_or_none
from perfanalysis.files.findings import Finding
from perfanalysis.imports.matrixbenchmarking.environment import Environment
from perfanalysis.imports.matrixbenchmarking.values import present, read_yaml
from perfanalysis.imports.run_directory import Recording, iso
from perfanalysis.workloads.kubernetes_objects.model import MARKER, SCHEMA

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
"""Names that TOPSAIL gives to lists of pods and jobs."""
NODES = "nodes.json"
CREATION = re.compile(rb'"creationTimestamp"\s*:\s*"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)"')
START_END = "start_end_cm.yaml"
"""A list of two ConfigMaps, whose creation marks begin and end of a test."""


def kubernetes_objects(folder: Path, environment: Environment) -> Recording | None:
    """The recording in one directory of a test; None where there are no lists."""
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
    lists[MARKER] = json.dumps(document, indent=1).encode() + b"\n"
    begun_s = _first_creation(present(folder, LISTS).values()) if started_s is None else started_s
    return Recording(folder.name, lists, started_s=begun_s, ended_s=ended_s, findings=findings)


def _first_creation(paths: Iterable[Path]) -> float | None:
    """When the first of the listed objects was created: what dates a test that nothing else does."""
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
        return None, None, (Finding("warning", path.name, f"begin and end of the test are not known: {error}"),)
    return found.get("start"), found.get("end"), ()


def _creations(value: Any) -> Iterator[tuple[str | None, float | None]]:
    for item in listing(mapping(value).get("items")):
        metadata = mapping(mapping(item).get("metadata"))
        yield text_or_none(metadata.get("name")), parse_time(metadata.get("creationTimestamp"))
