"""The part of the user's environment that Ansible gets."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from perfdrv.ansible.environment import clean_environment, secrets_referred_to
from perfdrv.ansible.request import RunRequest, json_vars
from perfdrv.project import Project

USER = {
    "PATH": "/usr/bin",
    "HOME": "/home/ada",
    "KUBECONFIG": "/home/ada/.kube/config",
    "PERF_SECRETS_DIR": "/secrets",
    "PERF_LAB": "mine",
    "K8S_AUTH_HOST": "https://cluster",
    "KUBERNETES_SERVICE_HOST": "10.0.0.1",
    "PULL_NUMBER": "17",
    "https_proxy": "http://proxy",
    "AWS_SECRET_ACCESS_KEY": "do not pass",
    "ANSIBLE_STDOUT_CALLBACK": "do not pass",
    "PYTHONPATH": "do not pass",
    "PERF_RUN_JOINED": "do not pass",
    "PERF_PROJECT_DIR": "do not pass",
    "HF_TOKEN": "do not pass",
    "LANG": "do not pass",
    "LC_ALL": "do not pass",
}


def test_only_listed_variables_reach_ansible(tmp_path: Path) -> None:
    environment = clean_environment(tmp_path, tmp_path / "run", USER)
    assert "do not pass" not in environment.values()
    assert {name: environment[name] for name in USER if name in environment and name not in ("PATH", "LC_ALL")} == {
        name: value for name, value in USER.items() if value != "do not pass" and name != "PATH"
    }


def test_project_and_run_are_passed(tmp_path: Path) -> None:
    environment = clean_environment(tmp_path, tmp_path / "run", USER)
    assert environment["ANSIBLE_CONFIG"] == str(tmp_path / "ansible.cfg")
    assert environment["PERF_RUN_DIR"] == str(tmp_path / "run")


def test_ansible_of_this_environment_comes_first(tmp_path: Path) -> None:
    first, *rest = clean_environment(tmp_path, tmp_path, USER)["PATH"].split(os.pathsep)
    assert (Path(first) / "ansible-playbook").is_file()
    assert rest == ["/usr/bin"]


def test_variables_referenced_by_settings_reach_ansible(tmp_path: Path) -> None:
    given = USER | {"LAB_TOKEN": "of a site", "OTHER": "do not pass"}
    names = {"HF_TOKEN", "LAB_TOKEN", "MISSING", "PERF_PROJECT_DIR"}
    environment = clean_environment(tmp_path, tmp_path / "run", given, names)
    assert {name: environment[name] for name in names & environment.keys()} == {
        "HF_TOKEN": "do not pass",
        "LAB_TOKEN": "of a site",
    }
    assert "OTHER" not in environment


@pytest.mark.parametrize("place", ["group_vars/all/a.yml", "presets/a.yml", "sites/lab/host_vars/a.yml", "given.yml"])
def test_references_are_found_in_every_layer_of_settings(tmp_path: Path, place: str) -> None:
    site = tmp_path / "sites" / "lab"
    (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
    site.mkdir(parents=True, exist_ok=True)
    (tmp_path / place).write_text("fine_tuning_sources.hf: {secret: 'env:HF_TOKEN'}\n")
    extra = ['{"demo_creds": "env:DEMO"}', "site=env", f"@{tmp_path / 'given.yml'}"]
    assert secrets_referred_to(tmp_path, site, extra) == {"DEMO", "HF_TOKEN"}


def test_references_of_replayed_runs_and_the_default_site_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, text in (("runs/r/settings.yml", "env:EARLIER"), ("inventories/lab/host_vars/sutest.yml", "env:OF_SITE")):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text(f"a: '{text}'\n")
    (tmp_path / "inventories/lab/hosts.yml").write_text("all: {}\n")
    for name in ("EARLIER", "OF_SITE"):
        monkeypatch.setenv(name, "given")
    request = RunRequest(
        project=Project(tmp_path),
        flow="demo",
        playbook=tmp_path / "demo.yml",
        runs_root=tmp_path / "runs",
        run_directory=tmp_path / "run",
        extra_vars=(json_vars({"perf_replay": str(tmp_path / "runs/r")}),),
        site="lab",
    )
    environment = request.process_environment()
    assert (environment.get("EARLIER"), environment.get("OF_SITE")) == ("given", "given")


def test_locale_is_utf_8_for_every_user_locale(tmp_path: Path) -> None:
    environment = clean_environment(tmp_path, tmp_path, {"LC_ALL": "xx_XX", "LANG": "C"})
    assert (environment["LC_ALL"], "LANG" in environment) == ("C.UTF-8", False)


def test_request_becomes_a_command_line(tmp_path: Path) -> None:
    request = RunRequest(
        project=Project(tmp_path),
        flow="demo",
        playbook=tmp_path / "demo.yml",
        runs_root=tmp_path,
        run_directory=tmp_path / "run",
        extra_vars=('{"a": 1}', "b=2 c='3 4'", "@/more.yml"),
        inventory=tmp_path / "lab",
        tags=("test", "cleanup"),
        skip_tags=("prepare",),
        check=True,
        diff=True,
        verbosity=3,
        environment={"PERF_RUN_CELL": "1"},
    )
    given = [f"@{tmp_path}/vars/{number}/env/extravars" for number in range(2)]
    assert request.arguments(tmp_path / "vars") == [
        *("-i", str(tmp_path / "lab"), "-e", given[0], "-e", given[1], "-e", "@/more.yml"),
        *("--tags", "test,cleanup", "--skip-tags", "prepare", "--check", "--diff", "-vvv", str(tmp_path / "demo.yml")),
    ]
    assert [json.loads(Path(word[1:]).read_text()) for word in given] == [{"a": 1}, {"b": "2", "c": "3 4"}]
    assert request.process_environment()["PERF_RUN_CELL"] == "1"
