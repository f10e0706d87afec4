"""Clusters created by a simulated openshift-install: created, failed, killed, destroyed."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import Interrupted, UsageError, WaitTimeoutError
from ansible_collections.psap.perf.plugins.module_utils.provisioning.install_config import InstallPlan
from ansible_collections.psap.perf.plugins.module_utils.provisioning.installer import (
    LOG,
    Hooks,
    Installer,
    InstallError,
    Release,
    kill_left,
    parse_line,
    require_fips_host,
)
from ansible_collections.psap.perf.plugins.module_utils.provisioning.ocp import (
    Installation,
    aws_environment,
    begun,
    create,
    destroy,
)
from ansible_collections.psap.perf.plugins.module_utils.provisioning.record import (
    CREATED,
    Journal,
    new_record,
    read_record,
    record_path,
)
from ansible_collections.psap.perf.plugins.module_utils.secrets.leaks import Redactor

from tests.standins.openshift.install_config_rules import public_key
from tests.standins.openshift.openshift_install import ARCHITECTURE, PASSWORD, PRIVATE, THINGS, VERSION

pytestmark = pytest.mark.slow

PROJECT = Path(__file__).resolve().parents[3]
RUN = "scale_test-20261125T080000Z-1f0c9a"
PULL_SECRET = json.dumps({"auths": {"quay.io": {"auth": "dXNlcjp2ZXJ5LXNlY3JldC1wYXNzd29yZA=="}}})
STEPS = ("create manifests", "create ignition-configs", "create cluster")


class Bench:
    """A run with a dedicated cloud and the simulated installer."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder, self.cloud, self.artifacts = folder, folder / "cloud", folder / "run" / "001__create"
        monkeypatch.setenv("STAND_IN_CLOUD", str(self.cloud))
        monkeypatch.setenv("PYTHONPATH", str(PROJECT))
        self.program = folder / "openshift-install"
        self.program.write_text(
            f'#!/bin/sh\nexec {sys.executable} -m tests.standins.openshift.openshift_install "$@"\n', encoding="utf-8"
        )
        self.program.chmod(0o755)
        self.redactor = Redactor([PULL_SECRET])
        self.shown: list[str] = []
        path = record_path(folder / "run", "sutest")
        self.journal = Journal(path, new_record(RUN, "sutest", "ocp", owner="jane", folder=str(folder / "own")))
        self.journal.note(destruction={"program": str(self.program)})

    def installer(self, check: Callable[[], None] = lambda: None) -> Installer:
        hooks = Hooks(check, self.shown.append, self.redactor.redact)
        return Installer(str(self.program), {}, self.artifacts / "artifacts" / LOG, hooks)

    def create(self, check: Callable[[], None] = lambda: None, timeout_s: float = 60.0, **changes: object) -> None:
        (self.artifacts / "src").mkdir(parents=True, exist_ok=True)
        key = public_key("ssh-ed25519")
        plan = InstallPlan(self.journal.record.name, "perf.example.com", "us-east-2", ssh_key=key)
        create(
            self.installer(check),
            self.journal,
            Installation(
                plan=replace(plan, **changes),  # type: ignore[arg-type]
                pull_secret=PULL_SECRET,
                timeout_s=timeout_s,
                artifacts=self.artifacts,
                redact=self.redactor.redact,
                hide=self.redactor.add,
            ),
        )

    def destroy(self) -> None:
        """Destroy the cluster by the record's file, as another process does."""
        record = read_record(self.journal.path)
        assert record is not None
        destroy(self.installer(), record, 60.0)
        Journal(self.journal.path, record).forget()

    def things(self) -> list[str]:
        return sorted(path.name for path in self.cloud.glob("*/*"))

    def seen(self) -> str:
        """Return all text of the run directory, which is exported."""
        return "".join(path.read_text(encoding="utf-8") for path in (self.folder / "run").rglob("*") if path.is_file())


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    return Bench(tmp_path, monkeypatch)


def test_cluster_is_created_and_destroyed_by_its_record_alone(bench: Bench) -> None:
    assert bench.installer().release() == Release(VERSION, ARCHITECTURE)
    bench.create(topology="light", spot=True)
    record = read_record(bench.journal.path)
    assert record is not None
    assert record.phase == CREATED
    assert record.api == f"https://api.{record.name}.perf.example.com:6443"
    assert record.console.startswith("https://console-openshift-console.apps.")
    assert Path(record.password.file).read_text(encoding="utf-8") == PASSWORD
    assert {stat.S_IMODE(Path(each).stat().st_mode) for each in (record.password.file, record.kubeconfig)} == {0o600}
    assert stat.S_IMODE(Path(record.folder, "install").stat().st_mode) == 0o700
    state = json.loads(Path(record.folder, "install", ".openshift_install_state.json").read_text(encoding="utf-8"))
    assert state["spots"] == ["99_openshift-cluster-api_worker-machineset-0.yaml"]
    assert bench.things() == sorted(set(THINGS) - {"bootstrap"})
    # Nothing in its folder is needed any more.
    subprocess.run(["rm", "-r", record.folder], check=True)
    bench.destroy()
    assert bench.things() == []
    assert not Path(record.folder).exists()
    bench.destroy()


def test_secrets_are_in_no_artifact_and_progress_is_shown(bench: Bench) -> None:
    bench.create()
    seen = bench.seen()
    assert "(secret)" in seen and "This is a stand-in for openshift-install" in seen
    for secret in (PASSWORD, PULL_SECRET, "dXNlcjp2ZXJ5LXNlY3JldC1wYXNzd29yZA"):
        assert secret not in seen
    assert "create cluster: Creating infrastructure resources..." in bench.shown


@pytest.mark.parametrize("step", STEPS)
def test_failed_step_is_explained_and_leaves_destroyable_parts(
    bench: Bench, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STAND_IN_FAILS", f"{step}=5")
    with pytest.raises(InstallError, match=f"openshift-install {step} failed, the bootstrap did not complete: .+; its"):
        bench.create()
    monkeypatch.delenv("STAND_IN_FAILS")
    assert begun(bench.journal.record) == (step == "create cluster") == bool(bench.things())
    bench.destroy()
    assert bench.things() == []


def test_bootstrap_logs_are_gathered_without_keys_and_secrets(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STAND_IN_FAILS", "create cluster=5")
    with pytest.raises(InstallError):
        bench.create()
    found = bench.artifacts / "artifacts" / "bootstrap" / "log-bundle"
    assert "etcd did not start" in (found / "bootstrap/journals/bootkube.log").read_text(encoding="utf-8")
    assert (found / "failed-units.txt").exists()
    assert PRIVATE not in bench.seen()
    assert "very-secret" not in bench.seen() and "dXNlcjp2ZXJ5LXNlY3JldC1wYXNzd29yZA" not in bench.seen()


@pytest.mark.parametrize("step", STEPS)
def test_interrupted_or_late_step_is_stopped(bench: Bench, step: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STAND_IN_STOPS", step)

    def interrupt() -> None:
        if f"{step}: This will never end" in bench.shown:
            raise Interrupted("interrupted")

    with pytest.raises(Interrupted):
        bench.create(interrupt)
    folder = Path(bench.journal.record.folder) / "install"
    assert kill_left(folder) == 0
    bench.destroy()
    assert bench.things() == []


def test_creation_timeout_reports_the_last_output(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STAND_IN_STOPS", "create manifests")
    with pytest.raises(WaitTimeoutError, match="create manifests did not end within 1 s; its last output: This"):
        bench.create(timeout_s=1.0)


@pytest.mark.slow
@pytest.mark.parametrize("step", STEPS)
def test_kill_in_any_step_leaves_a_destroyable_cluster(
    bench: Bench, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STAND_IN_STOPS", step)
    process_id = os.fork()
    if process_id == 0:
        bench.shown = _StepMarker(bench.folder / "reached", step)  # type: ignore[assignment]
        bench.create()
        os._exit(1)
    until = time.monotonic() + 60
    while not (bench.folder / "reached").exists() and time.monotonic() < until:
        time.sleep(0.05)
    os.kill(process_id, signal.SIGKILL)
    os.waitpid(process_id, 0)
    monkeypatch.delenv("STAND_IN_STOPS")
    bench.destroy()
    assert bench.things() == []
    record = read_record(bench.journal.path)
    assert record is not None
    assert kill_left(Path(record.folder) / "install") == 0


class _StepMarker:
    """Create a file when a process that will be killed reaches *step*."""

    def __init__(self, path: Path, step: str) -> None:
        self.path, self.step = path, step

    def append(self, text: str) -> None:
        if text == f"{self.step}: This will never end":
            self.path.touch()


def test_processes_of_a_killed_installer_are_killed(tmp_path: Path) -> None:
    with subprocess.Popen(["sleep", "60"], env={**os.environ, "PERF_INSTALL_FOLDER": str(tmp_path)}) as left:
        shown = Path(f"/proc/{left.pid}/environ")
        # The kernel shows the environment a moment after the program's start.
        while b"PERF_INSTALL_FOLDER" not in shown.read_bytes():
            time.sleep(0.01)
        assert kill_left(tmp_path) == 1
        assert left.wait(5) == -signal.SIGKILL


def test_credentials_go_to_a_private_file(bench: Bench) -> None:
    assert aws_environment(bench.folder, "") == {}
    found = aws_environment(bench.folder, "aws_access_key_id = a\naws_secret_access_key = b\n")
    path = Path(found["AWS_SHARED_CREDENTIALS_FILE"])
    assert path.read_text(encoding="utf-8").startswith("[default]\n")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_missing_or_wrong_program_is_refused(bench: Bench, tmp_path: Path) -> None:
    hooks = Hooks(lambda: None, bench.shown.append, str)
    with pytest.raises(UsageError, match="the program openshift-instal does not exist:"):
        Installer("openshift-instal", {}, tmp_path / "log", hooks)
    with pytest.raises(UsageError, match="is not openshift-install"):
        Installer("echo", {}, tmp_path / "log", hooks).release()


@pytest.mark.parametrize("content", ["0\n", None])
def test_fips_requires_a_host_in_fips_mode(tmp_path: Path, content: str | None) -> None:
    enabled = tmp_path / "fips_enabled"
    if content is not None:
        enabled.write_text(content, encoding="ascii")
    with pytest.raises(UsageError, match=r"cannot create a cluster with FIPS cryptography from this host: .* is not 1"):
        require_fips_host(enabled)
    enabled.write_text("1\n", encoding="ascii")
    require_fips_host(enabled)


def test_program_without_fips_fails_before_anything_is_created(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    key = public_key("ecdsa-sha2-nistp256")
    with pytest.raises(InstallError, match=r"its install-config is refused: .*use the FIPS-capable installer"):
        bench.create(fips=True, ssh_key=key)
    assert bench.things() == []
    monkeypatch.setenv("STAND_IN_FIPS", "1")
    bench.create(fips=True, ssh_key=key)
    assert bench.things()


@pytest.mark.parametrize(
    ("line", "level", "message"),
    [
        ('level=info msg="Consuming \\"Install Config\\""', "info", 'Consuming "Install Config"'),
        ("level=error msg=Bootstrap failed to complete: timed out", "error", "Bootstrap failed to complete: timed out"),
        ('time="2026-11-25T08:00:00Z" level=fatal msg="failed"', "fatal", "failed"),
        ("panic: runtime error", "output", "panic: runtime error"),
    ],
)  # fmt: skip
def test_log_lines_of_each_format_are_read(line: str, level: str, message: str) -> None:
    assert parse_line(line) == (level, message)
