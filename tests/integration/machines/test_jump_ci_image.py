"""A scale test on the lab from a jump host, in a container of an image that is built there from the project's commit.

No registry is needed: debootstrap creates the base image, instead of the one in execution-environment.yml, and the
commit contains the wheels of the dependencies. Everything else is real: sshd, podman, perfdrv, the lab.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.integration.conftest import PROJECT, Lab
from tests.integration.machines.conftest import Machine
from tests.integration.machines.test_container_bench import only_run
from tests.integration.machines.test_jump_ci import left, step, words
from tests.standins.hosts.machine import UID

pytestmark = pytest.mark.deep
PACKAGES = "python3-venv,git,openssh-client,ca-certificates"
BASE = "localhost/debian:1"
CONTAINERFILE = f"""FROM {BASE}
COPY . /src
WORKDIR /src
RUN python3 -m venv /opt/perf
RUN /opt/perf/bin/pip install --no-compile --no-index --find-links wheels 'psap-perf[collections]'
ENV PATH=/opt/perf/bin:/usr/bin:/bin
"""


def execute(*command: object, cwd: Path = PROJECT) -> None:
    subprocess.run([str(word) for word in command], cwd=cwd, check=True, stdout=subprocess.DEVNULL)


def commit_of_the_project(folder: Path) -> None:
    """Create a repository of the project's files, a Containerfile and wheels, which podman builds without a network."""
    folder.mkdir()
    execute("sh", "-c", f"git ls-files -z | xargs -0 cp --parents --no-dereference --target-directory={folder}")
    wheel = (sys.executable, "-m", "pip", "wheel", "--quiet", "--wheel-dir", folder / "wheels")
    execute(*wheel, "--constraint", "requirements/constraints.txt", ".[collections]")
    (folder / "Containerfile").write_text(CONTAINERFILE)
    who = ("-c", "user.name=tests", "-c", "user.email=tests@example.com")
    execute("git", "init", "--quiet", "--initial-branch=main", cwd=folder)
    execute("git", "add", "--force", ".", cwd=folder)
    execute("git", *who, "commit", "--quiet", "--message=Tests", cwd=folder)
    execute("chown", "--recursive", f"{UID}:{UID}", folder)


def base_image(machine: Machine, folder: Path) -> None:
    """Import a Debian with Python as the base image."""
    execute("sh", PROJECT / "tests/scripts/install_debian.sh", "debootstrap", "debootstrap")
    execute("debootstrap", "--variant=minbase", f"--include={PACKAGES}", "bookworm", folder / "root")
    archive = machine.folder / "debian.tar"
    execute("tar", "--create", "--file", archive, "--exclude=./dev/*", "--directory", folder / "root", ".")
    machine.inside("podman", "import", "--quiet", str(archive), BASE)
    archive.unlink()


def test_scale_test_runs_on_the_lab_in_a_container_of_our_image(
    machine: Machine, shared_lab: Lab, tmp_path: Path
) -> None:
    repository, kubeconfig = machine.folder / "own", machine.folder / "kubeconfig"
    commit_of_the_project(repository)
    base_image(machine, tmp_path)
    kubeconfig.write_bytes(shared_lab.kubeconfig.read_bytes())
    os.chown(kubeconfig, UID, UID)
    asked = words(
        machine,
        repo_url=f"file://{repository}",
        kubeconfig=kubeconfig,
        settings={"scale_test_count": 20},
        # the loopback of the jump host, on which the lab listens
        engine_args="[--network=host]",
        args="[--site=local, --preset=lab]",
    )
    code, output = machine.run(tmp_path / "runs", *asked)
    assert code == 0, output
    run = only_run(tmp_path / "runs")
    assert step(run)["exit_code"] == 0, step(run)["log"]
    (report,) = run.rglob("accounting.json")
    assert json.loads(report.read_text())["completed"] == 20
    assert left(machine) == []
