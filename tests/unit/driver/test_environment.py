"""What of the user's environment Ansible gets."""

from __future__ import annotations

import os
from pathlib import Path

from perfdrv.ansible.environment import clean_environment
from perfdrv.ansible.request import RunRequest
from perfdrv.project import Project

USER = {
    "PATH": "/usr/bin",
    "HOME": "/home/ada",
    "LC_ALL": "C.UTF-8",
    "KUBECONFIG": "/home/ada/.kube/config",
    "PERF_SECRETS_DIR": "/secrets",
    "PERF_LAB": "mine",
    "K8S_AUTH_HOST": "https://cluster",
    "https_proxy": "http://proxy",
    "AWS_SECRET_ACCESS_KEY": "do not pass",
    "ANSIBLE_STDOUT_CALLBACK": "do not pass",
    "PYTHONPATH": "do not pass",
    "PERF_RUN_JOINED": "do not pass",
    "PERF_PROJECT_DIR": "do not pass",
}


def test_only_listed_variables_reach_ansible(tmp_path: Path) -> None:
    environment = clean_environment(tmp_path, tmp_path / "run", USER)
    assert "do not pass" not in environment.values()
    assert {name: environment[name] for name in USER if name in environment and name != "PATH"} == {
        name: value for name, value in USER.items() if value != "do not pass" and name != "PATH"
    }


def test_the_project_and_the_run_are_named(tmp_path: Path) -> None:
    environment = clean_environment(tmp_path, tmp_path / "run", USER)
    assert environment["ANSIBLE_CONFIG"] == str(tmp_path / "ansible.cfg")
    assert environment["PERF_RUN_DIR"] == str(tmp_path / "run")


def test_ansible_of_this_environment_comes_first(tmp_path: Path) -> None:
    first, *rest = clean_environment(tmp_path, tmp_path, USER)["PATH"].split(os.pathsep)
    assert (Path(first) / "ansible-playbook").is_file()
    assert rest == ["/usr/bin"]


def test_a_request_is_a_command_line(tmp_path: Path) -> None:
    request = RunRequest(
        project=Project(tmp_path),
        flow="demo",
        playbook=tmp_path / "demo.yml",
        runs_root=tmp_path,
        run_directory=tmp_path / "run",
        extra_vars=('{"a": 1}', "b=2"),
        inventory=tmp_path / "lab",
        tags=("test", "cleanup"),
        skip_tags=("prepare",),
        check=True,
        diff=True,
        verbosity=3,
        environment={"PERF_RUN_CELL": "1"},
    )
    assert request.arguments() == [
        *("-i", str(tmp_path / "lab"), "-e", '{"a": 1}', "-e", "b=2"),
        *("--tags", "test,cleanup", "--skip-tags", "prepare", "--check", "--diff", "-vvv", str(tmp_path / "demo.yml")),
    ]
    assert request.process_environment()["PERF_RUN_CELL"] == "1"
