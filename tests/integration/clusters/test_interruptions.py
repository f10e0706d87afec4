"""Ctrl-C and kill -9 during cluster creation, with stand-ins for openshift-install and OCM that create nothing."""

from __future__ import annotations

import contextlib
import json
import signal
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.integration.conftest import PROGRAMS, PROJECT
from tests.integration.driver.conftest import Driver
from tests.integration.driver.killing import check_undamaged, kill_all, wait_until_all_have_ended
from tests.polling import PATIENCE_S, wait_until
from tests.standins.http_servers import served
from tests.standins.openshift.ocm_api import OFFLINE_TOKEN, ocm

SECRETS = {
    "aws": "[default]\naws_access_key_id = an-id\naws_secret_access_key = planted-secret-key\n",
    "ocm": OFFLINE_TOKEN,
    "pull": '{"auths": {"registry.invalid": {"auth": "bm9uZQ=="}}}',
}
INSTALLER = """#!/bin/sh
export STAND_IN_CLOUD={folder}/cloud PYTHONPATH={project} STAND_IN_STOPS="$(cat {folder}/stops)"
exec {programs}/python -m tests.standins.openshift.openshift_install "$@"
"""


@dataclass(frozen=True)
class Creation:
    """A cluster whose creation or destruction can be made to hang.

    Attributes:
        settings: of the command that creates it, by their names without the method's prefix.
        present: returns what exists of clusters.
        stop: selects the step that hangs from now on: ``create cluster``, ``destroy cluster`` or none.
    """

    driver: Driver
    method: str
    settings: dict[str, str]
    present: Callable[[], list[Any]]
    stop: Callable[[str], object]

    def start_run(self) -> subprocess.Popen[str]:
        """Start a run of the smallest flow; return when the creation of its cluster has begun."""
        given = {**self.settings, "folder": f"{self.driver.folder}/clusters", "time_to_live": "1h"}
        common = ("folder", "time_to_live")
        pairs = [
            word
            for name, value in given.items()
            for word in ("-s", f"clusters_create_{name if name in common else f'{self.method}_{name}'}={value}")
        ]
        return self._begun(("run", "skeleton", "-s", f"clusters_create_method={self.method}", *pairs))

    def start_command(self) -> subprocess.Popen[str]:
        """Start the command that creates a cluster; only its record requests the destruction."""
        given = {**self.settings, "folder": f"{self.driver.folder}/clusters"}
        pairs = [word for name, value in given.items() for word in (f"--{name.replace('_', '-')}", value)]
        return self._begun(("toolbox", "cluster", f"create-{self.method}", *pairs))

    def record(self) -> Path:
        """Return the cluster record of the only run."""
        (path,) = self.driver.runs.glob("*/**/clusters/sutest.json")
        return path

    def kill(self, process: subprocess.Popen[str]) -> None:
        """Kill -9 all processes of the run."""
        kill_all(self.driver.runs)
        process.communicate(timeout=PATIENCE_S)
        wait_until_all_have_ended(self.driver.runs)
        check_undamaged(self.driver.runs)

    def finalize(self) -> None:
        """Finalize the only run."""
        ended = self.driver("runs", "finalize", "latest")
        assert ended.code == 0, ended.out + ended.err
        self.check_nothing_left()

    def check_nothing_left(self) -> None:
        """Check that nothing is left of the cluster, its files and its secrets in run directories."""
        assert self.present() == []
        assert json.loads(self.record().read_text(encoding="utf-8"))["phase"] == "destroyed"
        assert not list((self.driver.folder / "clusters").glob("*"))
        texts = (path.read_bytes() for path in self.driver.runs.rglob("*") if path.is_file())
        assert not any(secret in text for text in texts for secret in (b"planted-secret-key", b"bm9uZQ==", b"access-"))

    def _begun(self, words: tuple[str, ...]) -> subprocess.Popen[str]:
        self.stop("create cluster")
        process = self.driver.start(*words)
        wait_until(self.present, during=process)
        return process


@pytest.fixture
def creation(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Creation]:
    secrets = tmp_path / "secrets"
    secrets.mkdir(mode=0o700)
    for name, text in SECRETS.items():
        (secrets / name).write_text(text, encoding="utf-8")
        (secrets / name).chmod(0o600)
    variables = {"PERF_SECRETS_DIR": str(secrets), "KUBECONFIG": str(tmp_path / "none")}
    driver = Driver(tmp_path, PROJECT, variables)
    begin = {"ocp": _installer, "osd": _manager}[request.param]
    with begin(driver) as made:
        yield made
        for process in driver.started:
            process.kill()
            process.communicate()
        kill_all(driver.runs)


@contextlib.contextmanager
def _installer(driver: Driver) -> Iterator[Creation]:
    folder = driver.folder
    program, stops, cloud = folder / "openshift-install", folder / "stops", folder / "cloud"
    program.write_text(INSTALLER.format(folder=folder, project=PROJECT, programs=PROGRAMS), encoding="utf-8")
    program.chmod(0o700)
    settings = {"program": str(program), "pull_secret": "file:pull", "base_domain": "perf.invalid"}
    settings |= {"credentials": "file:aws"}
    yield Creation(driver, "ocp", settings, lambda: list(cloud.glob("*/*")), stops.write_text)


@contextlib.contextmanager
def _manager(driver: Driver) -> Iterator[Creation]:
    server = ocm()

    def stop(step: str) -> None:
        server.installing, server.uninstalling = bool(step), step == "destroy cluster"

    with served(server) as url:
        settings = {"url": url, "sso_url": f"{url}/token", "token": "file:ocm", "account": "123456789012"}
        settings |= {"credentials": "file:aws"}
        yield Creation(driver, "osd", settings, lambda: list(server.created.values()), stop)


# the first half of the following test, and what finalizers do then
@pytest.mark.deep
@pytest.mark.parametrize("creation", ["ocp", "osd"], indirect=True)
def test_ctrl_c_destroys_the_begun_cluster(creation: Creation) -> None:
    run = creation.start_run()
    creation.stop("")
    run.send_signal(signal.SIGINT)

    ended = creation.driver.end(run)

    assert ended.code == 130, ended.out + ended.err
    assert creation.driver.document()["finalized"]
    creation.check_nothing_left()


@pytest.mark.deep
@pytest.mark.parametrize("creation", ["ocp", "osd"], indirect=True)
def test_finalize_destroys_the_rest_after_a_second_ctrl_c(creation: Creation) -> None:
    run = creation.start_run()
    creation.stop("destroy cluster")
    run.send_signal(signal.SIGINT)
    wait_until(lambda: list(creation.driver.runs.glob("*/**/*cluster__destroy*/waiting.json")), during=run)
    run.send_signal(signal.SIGINT)
    assert creation.driver.end(run).code == 130
    wait_until_all_have_ended(creation.driver.runs)
    assert creation.present()
    assert json.loads(creation.record().read_text(encoding="utf-8"))["phase"] == "creating"

    creation.stop("")
    creation.finalize()


@pytest.mark.parametrize("creation", ["ocp", pytest.param("osd", marks=pytest.mark.deep)], indirect=True)
def test_finalize_destroys_the_rest_after_a_kill(creation: Creation) -> None:
    creation.kill(creation.start_run())
    assert creation.present()

    creation.stop("")
    creation.finalize()


@pytest.mark.deep
@pytest.mark.parametrize("creation", ["ocp", "osd"], indirect=True)
def test_destroy_by_a_record_can_be_repeated(creation: Creation) -> None:
    creation.kill(creation.start_command())
    creation.stop("")
    words = ("toolbox", "cluster", "destroy", "--record", str(creation.record()))
    for _time in ("destroyed", "gone already"):
        ended = creation.driver(*words)
        assert ended.code == 0, ended.out + ended.err
        creation.check_nothing_left()


@pytest.mark.deep
@pytest.mark.parametrize("creation", ["ocp", "osd"], indirect=True)
def test_finalize_destroys_the_cluster_of_a_killed_command(creation: Creation) -> None:
    creation.kill(creation.start_command())
    creation.stop("")
    creation.finalize()
