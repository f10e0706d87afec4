"""A verb in a plain play outside the repository, whose ansible.cfg has the two lines that docs/writing.md lists."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import yaml

from tests.integration.conftest import PROGRAMS, PROJECT, Lab
from tests.polling import PATIENCE_S

WAIT = {"psap.perf.wait": {"kind": "Node", "timeout": "1m"}, "register": "nodes"}
SHOW = {"ansible.builtin.debug": {"msg": "{{ nodes.objects | map(attribute='metadata.name') | join(' ') }}"}}
FAIL = {"psap.perf.wait": {"kind": "Pod", "name": "nowhere", "namespace": "default", "timeout": "0"}}


def lines_of_the_docs() -> str:
    """Return the required lines of ansible.cfg from docs/writing.md, and the path of the collection."""
    found = re.search(r"```ini\n(.+?)```", (PROJECT / "docs/writing.md").read_text(), re.DOTALL)
    assert found
    return f"{found[1]}collections_path = {PROJECT / 'collections'}\n"


def play(folder: Path, lab: Lab, config: str, *tasks: dict[str, Any]) -> subprocess.CompletedProcess[str]:
    (folder / "ansible.cfg").write_text(config)
    variables = {"perf_kubeconfig": str(lab.kubeconfig)}
    document = [{"hosts": "localhost", "gather_facts": False, "vars": variables, "tasks": list(tasks)}]
    (folder / "play.yml").write_text(yaml.safe_dump(document))
    words = [str(PROGRAMS / "ansible-playbook"), "play.yml"]
    environment = lab.environment(folder / "runs")
    return subprocess.run(
        words, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=PATIENCE_S
    )


def test_wait_works_in_a_plain_play(tmp_path: Path, shared_lab: Lab) -> None:
    done = play(tmp_path, shared_lab, lines_of_the_docs(), WAIT, SHOW, FAIL)
    assert "node-0000 node-0001" in done.stdout, done.stdout + done.stderr
    assert "Pod nowhere in default: ready was not reached" in done.stdout
    (run,) = (tmp_path / "runs").iterdir()
    assert json.loads((run / "run.json").read_text())["status"] == "failed"
    assert not [path for name in ("waiting.json", "awaited.yml") for path in run.rglob(name)]


def test_verb_names_missing_lines_of_ansible_cfg(tmp_path: Path, shared_lab: Lab) -> None:
    config = lines_of_the_docs().replace("callbacks_enabled", "#")
    done = play(tmp_path, shared_lab, config, WAIT)
    assert done.returncode == 2
    for line in (
        "callbacks_enabled = psap.perf.run_directory",
        "vars_plugins_enabled = host_group_vars, psap.perf.pre",
    ):
        assert line in done.stdout + done.stderr


def test_command_names_the_missing_vars_plugin(tmp_path: Path, shared_lab: Lab) -> None:
    config = lines_of_the_docs().replace(", psap.perf.presets", "")
    command = {"name": "psap.perf.busy_cluster_create_namespaces"}
    done = play(tmp_path, shared_lab, config, {"ansible.builtin.include_role": command})
    assert done.returncode == 2
    output = " ".join((done.stdout + done.stderr).split())
    assert "the defaults of busy_cluster_create_namespaces are missing: set vars_plugins_enabled" in output
