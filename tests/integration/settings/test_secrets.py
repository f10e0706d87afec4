"""A secret's value is in no output, even at -vvv, and not in the run directory, for every end of the run."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.psap.perf.plugins.module_utils.secrets.leaks import scan_directory

VALUE = "correct-horse-battery-staple"

ROLE = {
    "meta/argument_specs.yml": """\
argument_specs:
  main:
    short_description: Use a secret
    options:
      repo_use_token: {type: str, no_log: true, required: true, description: A secret.}
      repo_use_text: {type: str, required: true, description: What to say with it.}
      repo_use_more: {type: dict, default: {}, description: Further arguments.}
""",
    "meta/main.yml": """\
allow_duplicates: true
dependencies:
  - role: psap.perf.command
    command_changes_cluster: false
""",
    "tasks/main.yml": """\
- name: Use it
  ansible.legacy.act:
    secret: "{{ repo_use_token }}"
    text: "{{ repo_use_text }}"
    file: "{{ repo_use_more.file | default(omit) }}"
    seconds: "{{ repo_use_more.seconds | default(omit) }}"
    fails: "{{ repo_use_more.fails | default(omit) }}"
""",
}
PLAYBOOK = """\
- name: Use a secret
  hosts: localhost
  tasks:
    - name: Check
      psap.perf.settings:
        flow: tiny
    - name: Work
      block:
        - name: Use it
          ansible.builtin.include_role:
            name: psap.perf.repo_use
          vars:
            repo_use_token: "{{ tiny_token }}"
      always:
        - name: Conclude
          psap.perf.conclude:
"""


@pytest.fixture
def secretive(project: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return the small project with run directories, and a command that uses a secret."""
    repository = Path(__file__).resolve().parents[3]
    project.write("ansible.cfg", (repository / "ansible.cfg").read_text())
    for name, text in ROLE.items():
        project.write(f"roles/repo_use/{name}", text)
    (project.root / "roles" / "command").symlink_to(
        repository / "collections/ansible_collections/psap/perf/roles/command"
    )
    project.write("playbooks/tiny.yml", PLAYBOOK)
    (project.root / "playbooks" / "action_plugins").symlink_to(repository / "tests" / "data" / "action_plugins")
    project.write("secrets/token", VALUE + "\n")
    project.environment["PERF_SECRETS_DIR"] = str(project.root / "secrets")
    return project


def arguments(text: str, **more: Any) -> list[str]:
    return ["-e", "tiny_token=file:token", "-e", json.dumps({"repo_use_text": text, "repo_use_more": more})]


def leaks(project: Any) -> list[str]:
    return [str(hit.path.relative_to(project.root)) for hit in scan_directory(project.root / "runs", [VALUE])]


def test_secret_is_hidden_at_the_highest_verbosity(secretive: Any) -> None:
    outcome = secretive.run("-vvv", *arguments("the token is $SECRET, $ENCODED"))

    assert outcome.code == 0, outcome.text
    assert "the token is (secret)" in outcome.text
    assert VALUE not in outcome.text
    assert leaks(secretive) == []


def test_secret_is_hidden_when_a_task_fails(secretive: Any) -> None:
    outcome = secretive.run("-vvv", *arguments("refused: $SECRET", fails=True))

    assert outcome.code != 0
    assert "refused: (secret)" in outcome.text
    assert VALUE not in outcome.text
    assert leaks(secretive) == []


def test_secret_is_hidden_when_the_validation_fails(secretive: Any) -> None:
    outcome = secretive.run("-vvv", "-e", "tiny_token=file:token")

    assert outcome.code != 0
    assert "repo_use_text" in outcome.text
    assert VALUE not in outcome.text
    assert leaks(secretive) == []


def test_secret_given_as_a_literal_is_refused_and_hidden(secretive: Any) -> None:
    secretive.write("presets/literal.yml", f"preset_literal:\n  tiny_token: {VALUE}\n")

    outcome = secretive.run("-e", "@presets/literal.yml")

    assert "presets/literal.yml:2: tiny_token must name a secret, not be one" in outcome.message
    assert VALUE not in outcome.text
    assert leaks(secretive) == []


def test_secret_is_hidden_when_the_run_is_killed(secretive: Any) -> None:
    marker = secretive.root / "said"
    environment = secretive.process_environment()
    process = subprocess.Popen(
        [
            *("ansible-playbook", "-vvv", "-i", "inventories/site", "playbooks/tiny.yml"),
            *arguments("the token is $SECRET", file=str(marker), seconds=60),
        ],
        cwd=secretive.root,
        env=environment,
        stdout=subprocess.DEVNULL,
    )
    try:
        while not marker.exists():
            assert process.poll() is None
            time.sleep(0.05)
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()

    assert leaks(secretive) == []


def test_planted_secret_fails_the_run(secretive: Any) -> None:
    outcome = secretive.run(*arguments("$SECRET", file="artifacts/careless.txt"))

    assert outcome.code != 0
    assert "plain-text secret found in the run directory" in outcome.message
    assert "artifacts/careless.txt:1" in outcome.message
    assert VALUE not in outcome.text


def test_credentials_of_the_environment_are_hidden(secretive: Any) -> None:
    secretive.write("secrets/token", "another-secret\n")
    secretive.environment["K8S_AUTH_API_KEY"] = VALUE
    outcome = secretive.run("-vvv", *arguments("K8S_AUTH_API_KEY=$K8S_AUTH_API_KEY"))
    assert outcome.code == 0, outcome.text
    assert "K8S_AUTH_API_KEY=(secret)" in outcome.text
    assert VALUE not in outcome.text
    assert leaks(secretive) == []
    planted = secretive.run(*arguments("$K8S_AUTH_API_KEY", file="artifacts/careless.txt"))
    assert "plain-text secret found in the run directory" in planted.message


def test_vaulted_variable_of_the_site_is_hidden(secretive: Any) -> None:
    password = secretive.write("secrets/vault-password", "let me in\n")
    encrypted = subprocess.run(
        ["ansible-vault", "encrypt_string", "--vault-password-file", str(password), "--name", "my_token", VALUE],
        cwd=secretive.root,
        env=secretive.process_environment(),
        text=True,
        capture_output=True,
        check=True,
    )
    secretive.write("inventories/site/group_vars/all.yml", encrypted.stdout)
    vaulted = ("-e", "tiny_token=vault:my_token")

    outcome = secretive.run("--vault-password-file", str(password), "-v", *arguments("the token is $SECRET"), *vaulted)

    assert outcome.code == 0, outcome.text
    assert "the token is (secret)" in outcome.text
    assert outcome.settings["all"]["tiny_token"] == {
        "value": "vault:my_token",
        "origin": "command line",
        "secret": True,
    }
    assert VALUE not in outcome.text
    assert leaks(secretive) == []
