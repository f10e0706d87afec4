"""Every written document has a JSON Schema, and matches it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, cast

import jsonschema
import pytest
import yaml
from ansible_collections.psap.perf.plugins.module_utils.base.documents import read_json
from ansible_collections.psap.perf.plugins.module_utils.base.provenance import git_state, versions
from ansible_collections.psap.perf.plugins.module_utils.kube_api.capturing import (
    Capture,
    capture_cluster,
    capture_project,
)
from ansible_collections.psap.perf.plugins.module_utils.kube_api.client import Cluster
from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.lab import Lab, lab_of
from ansible_collections.psap.perf.plugins.module_utils.run import directory
from ansible_collections.psap.perf.plugins.module_utils.run.command_directory import open_group
from ansible_collections.psap.perf.plugins.module_utils.run.failures import Failure

from tests.schemas import FOLDER, check, check_file, schemas

PROJECT = Path(__file__).resolve().parents[3]
SOURCES = ("analysis/src", "collections/ansible_collections/psap/perf", "driver/src", "lab/src")
KEPT_RUN = PROJECT / "tests/data/runs/v1"
FAILURE = Failure("2026-01-01T00:00:00.000Z", 1, "sutest", None, "Submit", "x.yml:1", "no", 5, "", None)
FACTS = {
    "flow": "scale_test",
    "check": False,
    "tags": {"run": ["all"], "skip": []},
    "site": "lab",
    "argv": ["ansible-playbook"],
}


def _names_in_sources() -> set[str]:
    found: set[str] = set()
    for folder in SOURCES:
        for path in (PROJECT / folder).rglob("*.py"):
            found.update(re.findall(r"\"(psap\.perf/[a-z-]+/\d+)\"", path.read_text(encoding="utf-8")))
    return found


def _names_of_records() -> set[str]:
    """Return the documents that roles write by psap.perf.record, which are named after their files."""
    roles = (PROJECT / "collections/ansible_collections/psap/perf/roles").glob("*/tasks/*.yml")
    records = re.compile(r"psap\.perf\.record:\n\s+file: ([a-z_]+)\n")
    return {f"psap.perf/{name}/1" for path in roles for name in records.findall(path.read_text(encoding="utf-8"))}


def test_every_written_document_has_a_schema_and_vice_versa() -> None:
    assert "psap.perf/run/1" in _names_in_sources()
    assert {"psap.perf/address/1", "psap.perf/operator/1"} <= _names_of_records()
    assert _names_in_sources() | _names_of_records() == schemas().keys()


@pytest.mark.parametrize("name", sorted(schemas()))
def test_schema_file_has_its_name_and_a_description(name: str) -> None:
    _prefix, kind, major = name.split("/")
    places = [PROJECT / "docs/schema" / f"{spelled}-{major}.json" for spelled in (kind, kind.replace("-", "_"))]
    assert any(place.is_file() for place in places)
    jsonschema.Draft202012Validator.check_schema(schemas()[name])
    assert schemas()[name]["description"]
    with pytest.raises(jsonschema.ValidationError):
        check({"schema": name})


def test_documentation_lists_every_schema() -> None:
    page = (PROJECT / "docs/run-directory.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"\]\(schema/([^)]+)\)", page.partition("## Schemas")[2]))
    assert listed == {path.name for path in FOLDER.iterdir()}


def test_stored_run_follows_the_schemas() -> None:
    documents = [path for path in KEPT_RUN.rglob("*") if path.suffix in (".json", ".yml")]
    names = [check_file(path) for path in documents]
    assert names.count("psap.perf/command/1") == 4
    assert {"psap.perf/run/1", "psap.perf/settings/1", "psap.perf/recording/1"} <= set(names)


@pytest.mark.parametrize(
    ("status", "exit_code", "reason"),
    [
        ("ok", 0, None),
        ("failed", 5, FAILURE.reason()),
        ("refused", 2, {"what": "no", "where": "perfdrv", "directory": None}),
    ],
)
def test_run_json_follows_its_schema_at_each_step(
    tmp_path: Path, status: str, exit_code: int, reason: dict[str, Any] | None
) -> None:
    path = tmp_path / "run.json"
    directory.begin_attempt(tmp_path, {**FACTS, "versions": versions(), "git": git_state(tmp_path)})
    check_file(path)
    cluster = {"uid": None, "version": "v1.36.3", "server": "https://127.0.0.1:6443"}
    found = {"cluster": cluster, "lab": Lab("default", simulated=("nodes", "pods")).document()}
    directory.update_run(tmp_path, {"presets": ["scale_test_smoke"], **found})
    check_file(path)
    # The first attempt was killed.
    directory.begin_attempt(tmp_path, {**FACTS, "parent": "another", "git": git_state(PROJECT)})
    check_file(path)
    directory.end_attempt(tmp_path, status, exit_code, reason)
    check_file(path)
    directory.update_run(tmp_path, {"finalized": "2026-01-01T00:00:00.000Z"})
    check_file(path)
    assert [attempt["status"] for attempt in read_json(path)["attempts"]] == ["interrupted", status]


@pytest.mark.parametrize(
    "changes",
    [
        {"status": "done"},
        {"started": "2026-01-01 00:00:00"},
        {"reason": "it broke"},
        {"attempts": [{"number": 0}]},
        {"git": {"commit": "0123"}},
    ],
)
def test_invalid_run_json_is_refused(tmp_path: Path, changes: dict[str, Any]) -> None:
    document = directory.begin_attempt(tmp_path, FACTS)
    check(document)
    with pytest.raises(jsonschema.ValidationError):
        check({**document, **changes})


def test_group_json_follows_its_schema(tmp_path: Path) -> None:
    assert check_file(open_group(tmp_path, "prepare", 1) / "group.json") == "psap.perf/group/1"


class _Somewhere:
    """A cluster of which only the properties are read."""

    server = "https://127.0.0.1:6443"

    def __init__(self, lab: dict[str, str] | None) -> None:
        self._lab = lab

    def version(self) -> str:
        return "v1.36.3"

    def uid(self) -> str:
        return "66c2ed5e"

    def lab(self) -> dict[str, str] | None:
        return self._lab


def test_lab_names_what_is_absent() -> None:
    lab = lab_of({"name": "one", "real": "worker", "absent": "limits of pods,metrics of pods"})
    assert lab is not None
    assert lab.document()["absent"] == ["limits of pods", "metrics of pods"]
    assert "absent" not in Lab("one").document()


@pytest.mark.parametrize("lab", [None, {"name": "default", "simulated": "nodes,pods", "nodes": "10"}])
def test_captured_environment_follows_its_schemas(tmp_path: Path, lab: dict[str, str] | None) -> None:
    capture = Capture(tmp_path)
    capture_cluster(capture, cast(Cluster, _Somewhere(lab)))
    capture_project(capture, tmp_path)
    assert capture.missing == []
    assert check_file(tmp_path / "cluster.yml") == "psap.perf/cluster/1"
    assert yaml.safe_load((tmp_path / "cluster.yml").read_text())["lab"] == lab
    assert check_file(tmp_path / "project.yml") == "psap.perf/project/1"
