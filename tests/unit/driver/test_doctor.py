"""`perfdrv doctor`: findings with remedies, and their exit codes."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from perfdrv.ansible.single_task import TaskError
from perfdrv.cli import cli
from perfdrv.command_line.groups import Session
from perfdrv.errors import UsageError
from perfdrv.examining import cluster
from perfdrv.examining.findings import MISSING, OK, OPTIONAL, optional, required, worst_exit_code
from perfdrv.examining.machine import INOTIFY_INSTANCES, examine_machine
from perfdrv.examining.project import LINES, examine_config
from perfdrv.project import Project

from tests.demo_project import make_demo_project
from tests.unit.driver.conftest import ROOT


def test_config_of_the_repository_has_all_lines() -> None:
    assert {finding.status for finding in examine_config(ROOT / "ansible.cfg")} == {OK}


def test_missing_lines_are_named_with_the_line_to_add(tmp_path: Path) -> None:
    config = tmp_path / "ansible.cfg"
    config.write_text("[defaults]\ncallbacks_enabled = psap.perf.run_directory\n", encoding="utf-8")
    findings = {finding.check: finding for finding in examine_config(config)}
    assert findings["ansible.cfg: callbacks_enabled"].status == OK
    missing = findings["ansible.cfg: vars_plugins_enabled"]
    assert missing.status == MISSING
    assert LINES["vars_plugins_enabled"][1] in missing.remedy
    assert worst_exit_code(findings.values()) == 2


def test_low_limit_of_watches_is_optional(tmp_path: Path) -> None:
    limit = tmp_path / "max_user_instances"
    limit.write_text(f"{INOTIFY_INSTANCES - 1}\n", encoding="ascii")
    findings = {finding.check: finding for finding in examine_machine(tmp_path, limit)}
    assert findings["inotify instances"].status == OPTIONAL
    assert "sysctl" in findings["inotify instances"].remedy
    assert findings["Python"].status == OK


def test_machine_without_pseudo_terminals_starts_nothing(
    tmp_path: Path, perfdrv: Callable[..., Result], runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unavailable() -> tuple[int, int]:
        raise OSError("out of pty devices")

    monkeypatch.setattr(os, "openpty", unavailable)
    found = next(finding for finding in examine_machine(tmp_path) if finding.check == "pseudo-terminals")
    assert (found.status, found.exit_code) == (MISSING, 2)
    for words in (["demo"], ["run", "demo"], ["toolbox", "demo", "greet"]):
        refused = perfdrv(*words).exception
        assert isinstance(refused, UsageError)
        assert "cannot open a pseudo-terminal, on which Ansible runs: out of pty devices; mount" in str(refused)
    assert list(runs.iterdir()) == []


def test_exit_code_is_that_of_the_first_missing_requirement() -> None:
    fine, less = required("a", True, "", "", 2), optional("b", False, "", "install it")
    assert worst_exit_code([fine, less]) == 0
    assert worst_exit_code([fine, required("c", False, "", "", 3), required("d", False, "", "", 2)]) == 3


def test_collection_that_ansible_does_not_find_is_missing(tmp_path: Path) -> None:
    root = make_demo_project(tmp_path / "demo")
    # the demo's file is a link to that of the repository
    (root / "ansible.cfg").unlink()
    (root / "ansible.cfg").write_text("[defaults]\ncollections_path = nowhere\n", encoding="utf-8")
    words = ["--project", str(root), "doctor", "--no-cluster", "--json"]
    result = CliRunner().invoke(cli, words, obj=Session(), prog_name="perfdrv", standalone_mode=False)
    assert result.return_value == 2
    findings = {finding["check"]: finding for finding in json.loads(result.stdout)}
    assert findings["psap.perf"]["found"] == "not found by Ansible"
    assert findings["psap.perf"]["status"] == MISSING


def test_missing_rights_of_every_run_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(_project: Project, _site: Path | None, verb: str, arguments: dict[str, Any]) -> dict[str, Any]:
        (rule,) = arguments["rights"]
        raise TaskError(f"{verb}: no rights to {rule['verbs'][0]} {rule['kinds'][0]}", 3)

    monkeypatch.setattr(cluster, "run_task", denied)
    finding = cluster.examine_rights(Project(ROOT), None)
    assert (finding.status, finding.exit_code) == (MISSING, 3)
    assert finding.found == "preflight: no rights to get Lease"


NODES = [
    {"metadata": {"name": "extended"}, "status": {"allocatable": {"nvidia.com/gpu": "4"}}},
    {"metadata": {"name": "devices"}, "status": {"allocatable": {}}},
]


def test_gpus_are_counted_from_slices_of_nodes_without_others(monkeypatch: pytest.MonkeyPatch) -> None:
    pool = {"name": "devices", "generation": 1}
    spec = {"driver": "gpu.nvidia.com", "nodeName": "devices", "pool": pool, "devices": [{}, {}]}
    monkeypatch.setattr(cluster, "run_task", lambda *_arguments: {"objects": [{"spec": spec}]})
    finding = cluster.examine_gpus(Project(ROOT), None, NODES)
    assert (finding.status, finding.found) == (OK, "6, 2 of them as devices of ResourceSlices")


def test_gpus_without_the_right_to_list_slices_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(*_arguments: object) -> dict[str, Any]:
        raise TaskError("cannot list ResourceSlice: forbidden", 3)

    monkeypatch.setattr(cluster, "run_task", denied)
    finding = cluster.examine_gpus(Project(ROOT), None, NODES)
    assert (finding.status, finding.exit_code) == (OPTIONAL, 0)
    assert finding.found == "4, without devices of ResourceSlices: cannot list ResourceSlice: forbidden"
