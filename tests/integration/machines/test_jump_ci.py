"""The flow jump_ci as its user runs it: a step in a container behind a real sshd, its secrets, and its leftovers."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.integration.machines.conftest import Machine
from tests.integration.machines.test_container_bench import only_run, reason
from tests.polling import wait_until
from tests.standins.hosts.machine import resize_small

SECRET = "a-token-that-nobody-may-see"


def words(machine: Machine, **settings: object) -> list[str]:
    given = {
        "target": "lab",
        "owner": "tests",
        "project": "scale_test",
        "repo_url": f"file://{machine.folder}/repository",
        "directory": machine.folder / "work/jump",
        **settings,
    }
    pairs = [
        f"jump_ci_{name}={json.dumps(value) if isinstance(value, dict) else value}" for name, value in given.items()
    ]
    return [
        "run",
        "jump_ci",
        "-i",
        str(machine.folder / "hosts.yml"),
        *(word for pair in pairs for word in ("-s", pair)),
    ]


@pytest.fixture(autouse=True)
def _secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TESTS_TOKEN", SECRET)


def left(machine: Machine) -> list[str]:
    """Return leftovers, except images, which the target's next run removes by age, and the file of the lock."""
    locks = {"flock", "state.json"}
    files = [path for path in (machine.folder / "work").rglob("*") if path.is_file() and path.name not in locks]
    containers = machine.inside("podman", "ps", "--all", "--external", "--quiet").split()
    return [*containers, *map(str, files)]


def step(run: Path) -> dict[str, Any]:
    (path,) = run.rglob("ci_step.yml")
    document: dict[str, Any] = yaml.safe_load(path.read_text())
    return document


def test_failed_step_is_reported_with_artifacts_and_no_leftovers(machine: Machine, tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    asked = words(machine, secrets={"token": "env:TESTS_TOKEN"}, env={"STEP_ENDS": "4", "STEP_TELLS": "yes"})
    code, output = machine.run(runs, *asked)
    assert code == 1, output
    assert "step run of scale_test ended with 4" in str(reason(runs)["reason"])
    run = only_run(runs)
    assert step(run)["exit_code"] == 4
    assert "(secret)" in step(run)["log"]
    (right,) = run.rglob("test/secret")
    assert right.read_text().startswith("-rw------- ")
    assert not [path for path in run.rglob("*") if path.is_file() and SECRET in path.read_text(errors="replace")]
    assert left(machine) == []


@pytest.mark.deep
def test_killed_run_leaves_no_secret_and_finalize_removes_the_rest(machine: Machine, tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    asked = words(machine, secrets={"token": "env:TESTS_TOKEN"}, env={"STEP_SLEEPS": "600"})
    process = machine.start(runs, *asked)
    wait_until(lambda: machine.inside("podman", "ps", "--quiet").split())
    # neither during the step nor afterwards
    on_disk = ("sh", "-c", f"grep -rlF {SECRET} {machine.folder}/work {machine.folder}/home /tmp/ansible* || true")
    assert machine.inside(*on_disk) == ""
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    code, output = machine.run(runs, "runs", "finalize", only_run(runs).name)
    assert code == 0, output
    assert left(machine) == []
    assert machine.inside(*on_disk) == ""


@pytest.mark.deep
def test_jump_host_is_reached_through_another_one(machine: Machine, tmp_path: Path) -> None:
    hosts = yaml.safe_load((machine.folder / "hosts.yml").read_text())
    host = hosts["all"]["hosts"]["sutest"]
    common = f"Port {host['ansible_port']}\n  User {host['ansible_user']}\n  IdentityFile {machine.folder}/key\n"
    known = f"  UserKnownHostsFile {machine.folder}/known_hosts\n  HostName 127.0.0.1\n"
    bastion = f"Host bastion\n  {common}{known}"
    (tmp_path / "ssh_config").write_text(f"{bastion}Host jump\n  ProxyJump bastion\n  {common}{known}")
    host.update(ansible_host="jump", ansible_ssh_common_args=f"-F {tmp_path}/ssh_config")
    (tmp_path / "hosts.yml").write_text(yaml.safe_dump(hosts))
    asked = words(machine)
    asked[asked.index("-i") + 1] = str(tmp_path / "hosts.yml")
    code, output = machine.run(tmp_path / "runs", *asked)
    assert code == 0, output
    assert step(only_run(tmp_path / "runs"))["exit_code"] == 0


@pytest.mark.deep
def test_target_locked_by_another_owner_is_refused(machine: Machine, tmp_path: Path) -> None:
    lock = ("toolbox", "jump-ci", "take-lock", "-i", str(machine.folder / "hosts.yml"), "--cluster", "lab")
    where = ("--directory", str(machine.folder / "work/jump"), "--owner", "someone")
    code, output = machine.run(tmp_path / "lock", *lock, *where, "--duration", "10m")
    assert code == 0, output
    code, output = machine.run(tmp_path / "runs", *words(machine))
    assert code == 3, output
    assert "is locked for someone" in str(reason(tmp_path / "runs")["reason"])
    release = ("toolbox", "jump-ci", "release-lock", *lock[3:], *where)
    code, output = machine.run(tmp_path / "lock", *release)
    assert code == 0, output


@pytest.fixture(name="step_image")
def _step_image(machine: Machine) -> Iterator[str]:
    """Return the image of the stand-in, which exists without a checkout."""
    image = "localhost/step:1"
    machine.inside("podman", "build", "--quiet", "--tag", image, f"{machine.folder}/repository")
    yield image
    machine.inside("podman", "rmi", image)


@pytest.mark.deep
def test_machine_lost_during_retrieval_is_cleaned_up_later(machine: Machine, tmp_path: Path, step_image: str) -> None:
    runs = tmp_path / "runs"
    # enough files to take seconds to pack
    process = machine.start(runs, *words(machine, image=step_image, env={"STEP_WRITES_MIB": "200"}))
    wait_until(lambda: list((machine.folder / "work").rglob("copy-*/archive")))
    machine.stop_sshd()
    output, _nothing = process.communicate()
    machine.start_sshd()
    assert process.returncode == 3, output
    assert "cannot be reached" in str(reason(runs)["reason"])
    assert step(only_run(runs))["exit_code"] == 0
    assert not list(only_run(runs).rglob("artifacts/large"))
    code, output = machine.run(runs, "runs", "finalize", only_run(runs).name)
    assert code == 0, output
    (large,) = only_run(runs).rglob("artifacts/large")
    assert large.stat().st_size == 200 << 20
    assert left(machine) == []


@pytest.mark.deep
def test_step_that_fills_the_disk_keeps_its_artifacts(machine: Machine, tmp_path: Path, step_image: str) -> None:
    runs = tmp_path / "runs"
    small = f"{machine.folder}/small/jump"
    asked = words(machine, image=step_image, env={"STEP_WRITES_MIB": "1"}, directory=small)
    code, output = machine.run(runs, *asked)
    assert code == 1, output
    assert "No space left on device" in str(reason(runs)["reason"])
    run = only_run(runs)
    # the next owner would remove the workspace
    other = words(machine, image=step_image, directory=small, owner="other")
    code, output = machine.run(tmp_path / "other", *other)
    assert code == 3, output
    assert "is locked for tests" in output
    resize_small(machine.folder, "8m")
    code, output = machine.run(runs, "runs", "finalize", run.name)
    assert code == 0, output
    assert list(run.rglob("artifacts/large"))
    code, output = machine.run(tmp_path / "again", *other)
    assert code == 0, output
    files = [path for path in Path(small).rglob("*") if path.is_file() and path.name not in ("flock", "state.json")]
    assert files == []
    machine.inside("rm", "-r", small)
    resize_small(machine.folder, "128k")


@pytest.mark.deep
def test_clock_an_hour_ahead_ends_no_lock(machine: Machine, tmp_path: Path, step_image: str) -> None:
    ahead = ("-e", f"ansible_python_interpreter={machine.folder}/python-ahead")
    code, output = machine.run(tmp_path / "runs", *words(machine, image=step_image, duration="30m"), *ahead)
    assert code == 0, output
    assert left(machine) == []


@pytest.mark.deep
def test_run_killed_during_the_image_build_is_finalized_completely(machine: Machine, tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    process = machine.start(runs, *words(machine, container_file="Containerfile.slow"))
    wait_until(lambda: "sleep 600" in machine.inside("ps", "-eo", "args"))
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    code, output = machine.run(runs, "runs", "finalize", only_run(runs).name)
    assert code == 0, output
    wait_until(lambda: "sleep 600" not in machine.inside("ps", "-eo", "args"))
    assert left(machine) == []
