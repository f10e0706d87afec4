"""Apply awx/apply.yml and awx/remove.yml with the real modules of awx.awx to a stand-in for AWX's API."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
import yaml
from ansible_collections.psap.perf.plugins.module_utils.settings.project import Project
from ansible_collections.psap.perf.plugins.module_utils.settings.survey import survey

from tests.standins.awx.api import TOKEN, USER, AwxApi, awx_api

REPOSITORY = Path(__file__).resolve().parents[3]
PAGE = (REPOSITORY / "docs/awx.md").read_text(encoding="utf-8")
# mine.yml of the documentation page
(EXAMPLE,) = [
    each for each in map(yaml.safe_load, re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)) if "awx_sites" in each
]
PLANTED = "planted-kubeconfig"
# one flow suffices; each call of a module takes a second
ONE_FLOW = {
    "awx_flows": [{"name": "scale_test", "timeout": 14400}],
    "awx_credentials": [{"name": "a cluster", "type": "kubeconfig", "inputs": {"kubeconfig": PLANTED}}],
    "awx_extra_vars": EXAMPLE["awx_extra_vars"],
}


BY_TOKEN = {"CONTROLLER_OAUTH_TOKEN": TOKEN}


@dataclass
class Awx:
    """The stand-in and the home of its users."""

    api: AwxApi
    home: Path

    def play(
        self, playbook: str, variables: dict[str, Any], login: Mapping[str, str] = MappingProxyType(BY_TOKEN)
    ) -> tuple[int, str]:
        """Run a playbook as the page describes; return its exit code and output."""
        done = subprocess.run(
            ["ansible-playbook", playbook, "-e", json.dumps(variables)],
            cwd=REPOSITORY / "awx",
            env={
                "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
                "HOME": str(self.home),
                "LC_ALL": "C.UTF-8",
                "CONTROLLER_HOST": self.api.url,
                **login,
            },
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        return done.returncode, done.stdout

    def changed(self, playbook: str, variables: dict[str, Any]) -> int:
        """Run a playbook that succeeds; return its number of changed tasks."""
        code, text = self.play(playbook, variables)
        assert code == 0, text
        assert PLANTED not in text
        (count,) = re.findall(r"changed=(\d+)", text)
        return int(count)


@pytest.fixture
def awx(tmp_path: Path) -> Iterator[Awx]:
    with awx_api(REPOSITORY) as api:
        yield Awx(api, tmp_path)


@pytest.mark.deep
def test_apply_is_idempotent_and_removable(awx: Awx) -> None:
    assert awx.changed("apply.yml", ONE_FLOW) == 11
    _check_applied(awx.api)

    writes = len(awx.api.writes)
    assert awx.changed("apply.yml", ONE_FLOW) == 0
    assert awx.api.writes[writes:] == []

    assert awx.changed("remove.yml", ONE_FLOW) == 7
    assert {kind: list(found) for kind, found in awx.api.objects.items() if found} == {"organizations": [1]}


def _check_applied(api: AwxApi) -> None:
    template = api.named("job_templates", "psap.perf scale_test")
    workflow = api.named("workflow_job_templates", "psap.perf scale_test workflow")
    shared = [
        one["variable"] for one in api.surveys[template["id"]]["spec"] if not one["variable"].startswith("scale_")
    ]
    expected = survey(Project(REPOSITORY), "scale_test", shared[1:], EXAMPLE["awx_extra_vars"])

    assert api.surveys[template["id"]] == api.surveys[workflow["id"]] == expected
    assert template["playbook"] == "playbooks/scale_test.yml"
    assert json.loads(template["extra_vars"]) == EXAMPLE["awx_extra_vars"] == {"clusters_lock": "wait"}
    # although the survey has the question, and its defaults override the template's variables
    assert "clusters_lock" in shared
    assert api.launch("psap.perf scale_test", {})["clusters_lock"] == "wait"
    assert api.launch_workflow("psap.perf scale_test workflow", {}, {})["clusters_lock"] == "wait"
    answered = {"clusters_lock": "refuse"}
    assert api.launch_workflow("psap.perf scale_test workflow", answered, {})["clusters_lock"] == "refuse"
    assert api.linked("job_templates", "psap.perf scale_test", "credentials") == ["a cluster"]
    assert api.named("inventory_sources", "psap.perf local")["source_path"] == "inventories/local/hosts.yml"
    # cleanup runs after success and failure, and the report after cleanup
    links = {
        (node, link): api.linked("workflow_job_template_nodes", node, link)
        for node in ("prepare", "test", "cleanup", "report")
        for link in ("success_nodes", "failure_nodes", "always_nodes")
    }
    assert {key: nodes for key, nodes in links.items() if nodes} == {
        ("prepare", "success_nodes"): ["test"],
        ("prepare", "failure_nodes"): ["cleanup"],
        ("test", "always_nodes"): ["cleanup"],
        ("cleanup", "always_nodes"): ["report"],
    }
    tags = {node: api.named("workflow_job_template_nodes", node)["job_tags"] for node in ("prepare", "test", "cleanup")}
    assert tags == {"prepare": "cleanup_before,prepare", "test": "test", "cleanup": "cleanup"}
    cleanup = api.named("job_templates", "psap.perf scale_test cleanup")
    assert (cleanup["job_tags"], cleanup["ask_tags_on_launch"]) == ("cleanup", False)
    assert api.surveys[cleanup["id"]] == expected
    for name, wanted in (("nightly smoke", workflow), ("morning cleanup", cleanup)):
        schedule = api.named("schedules", f"psap.perf {name}")
        assert (schedule["unified_job_template"], schedule["enabled"]) == (wanted["id"], False)


def test_wrong_password_fails_the_play_without_writes(awx: Awx) -> None:
    code, text = awx.play("apply.yml", ONE_FLOW, {"CONTROLLER_USERNAME": USER, "CONTROLLER_PASSWORD": "wrong"})

    assert code == 2
    assert "Failed to get token: HTTP Error 401" in text
    assert awx.api.writes == []


@pytest.mark.deep
def test_all_flows_are_applied_and_removed_twice(awx: Awx) -> None:
    for playbook, changed in (("apply.yml", 10), ("apply.yml", 0), ("remove.yml", 6), ("remove.yml", 0)):
        assert awx.changed(playbook, {}) == changed

    assert {kind: list(found) for kind, found in awx.api.objects.items() if found} == {"organizations": [1]}
