"""Runs on hosts of a stand-in for QUADS: booked, delivered, and released, after a kill too."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.integration.conftest import PROJECT
from tests.integration.driver.conftest import Driver
from tests.integration.driver.killing import check_undamaged, kill_all, wait_until_all_have_ended
from tests.polling import PATIENCE_S, wait_until
from tests.standins.quads.faults import over_http
from tests.standins.quads.lab import Json, Settings, example
from tests.standins.quads.server import StandIn

PASSWORD = "planted-quads-w0rd"


@dataclass(frozen=True)
class BareMetal:
    """A driver, and the stand-in that its flow uses."""

    driver: Driver
    server: StandIn
    words: tuple[str, ...]

    def wait_for(self, pattern: str, run: subprocess.Popen[str]) -> None:
        """Wait until the run has a file that matches a pattern."""
        wait_until(lambda: list(self.driver.folder.glob(pattern)), during=run)

    @property
    def active_assignments(self) -> list[Json]:
        """Return the assignments that are not terminated."""
        return [each for each in self.server.lab.assignments if each["active"]]

    def kill(self, *_: Any) -> None:
        """Kill -9 every process of the run."""
        kill_all(self.driver.runs)


@pytest.fixture
def bare_metal(tmp_path: Path) -> Iterator[BareMetal]:
    """Start the stand-in: hosts are moved after 1 s and validated after 2 s; the lab shortens no lease."""
    settings = Settings(move_s=1, validation_s=2, deadline=(0, 0))
    secrets = tmp_path / "secrets"
    secrets.mkdir(mode=0o700)
    (secrets / "quads").write_text(PASSWORD, encoding="utf-8")
    (secrets / "quads").chmod(0o600)
    server = StandIn(example(lambda: datetime.now(UTC), settings))
    driver = Driver(tmp_path, PROJECT, {"PERF_SECRETS_DIR": str(secrets)})
    with over_http(server) as address:
        given = {"url": address, "user": "jane@example.com", "password": "file:quads", "ticket": "PERF-1"}
        given |= {"interval": "500ms", "count": "2", "labels": "[disk_nvme]"}
        pairs = [word for name, value in given.items() for word in ("-s", f"quads_{name}={value}")]
        yield BareMetal(driver, server, ("run", "bare_metal", *pairs))


def use_tasks(arguments: str) -> str:
    """Return tasks that use the hosts: they wait for them again, with *arguments*."""
    role = "psap.perf.quads_wait_assignment"
    return f"- {{name: Use, ansible.builtin.include_role: {{name: {role}}}, vars: {arguments}}}\n"


def test_hosts_are_booked_delivered_used_and_released(bare_metal: BareMetal, tmp_path: Path) -> None:
    tasks = tmp_path / "use.yml"
    tasks.write_text(use_tasks("{quads_wait_assignment_timeout: 0s}"), encoding="utf-8")

    ended = bare_metal.driver(*bare_metal.words, "-s", f"bare_metal_tasks={tasks}")

    assert ended.code == 0, ended.out + ended.err
    (run,) = bare_metal.driver.runs.iterdir()
    booked = json.loads((run / "run.json").read_text(encoding="utf-8"))["quads"]
    assert len(booked["hosts"]) == 2 and booked["lease_exact"]
    assert all(host in next(run.glob("**/hosts.yml")).read_text(encoding="utf-8") for host in booked["hosts"])
    assert [each["id"] for each in bare_metal.server.lab.assignments] == [booked["assignment"]]
    assert not bare_metal.active_assignments
    texts = (path.read_bytes() for path in run.rglob("*") if path.is_file())
    assert not any(PASSWORD.encode() in text or b"eyJhbGciOiJIUzI1NiJ9" in text for text in texts)


@pytest.mark.deep
@pytest.mark.parametrize(
    "moment",
    [
        "an assignment is made",
        pytest.param("a host is added"),
        pytest.param("delivery is awaited"),
    ],
)
def test_killed_run_returns_its_hosts(bare_metal: BareMetal, moment: str) -> None:
    paths = {"an assignment is made": "/assignments", "a host is added": "/schedules"}
    if moment in paths:
        bare_metal.server.after.append(("POST", paths[moment], bare_metal.kill))
    else:
        bare_metal.server.lab.settings.stuck = set(bare_metal.server.lab.hosts)
    run = bare_metal.driver.start(*bare_metal.words)
    if moment not in paths:
        bare_metal.wait_for("runs/*/*/*quads__wait*/waiting.json", run)
        bare_metal.kill()
    finalize_and_check_hosts(bare_metal, run)


@pytest.mark.deep
@pytest.mark.parametrize("keep", [False, True])
def test_run_killed_during_installation_returns_unkept_hosts(keep: bool, bare_metal: BareMetal, tmp_path: Path) -> None:
    tasks = tmp_path / "install.yml"
    tasks.write_text(
        f"- {{name: Begin, ansible.builtin.file: {{path: {tmp_path}/begun, state: touch}}}}\n"
        f"- {{name: Install, ansible.builtin.wait_for: {{timeout: {PATIENCE_S}}}}}\n",
        encoding="utf-8",
    )
    settings = ("-s", "quads_book=true", "-s", f"quads_install_tasks={tasks}", "-s", f"quads_keep={keep}")
    words = (*settings, "-e", f"perf_kubeconfig={tmp_path}/none")
    run = bare_metal.driver.start("run", "skeleton", *bare_metal.words[2:], *words)
    bare_metal.wait_for("begun", run)
    bare_metal.kill()
    # no cluster exists that could be cleaned
    finalize_and_check_hosts(bare_metal, run, left=int(keep))


@pytest.mark.deep
def test_run_is_stopped_and_releases_hosts_before_the_lease_ends(bare_metal: BareMetal, tmp_path: Path) -> None:
    # the run has the first 20 s, its finalizers the others
    lease_s, stop_s = 900, 880
    bare_metal.server.lab.settings.lifetime_days = lease_s / 86400
    tasks = tmp_path / "use.yml"
    waits = f"{{quads_wait_assignment_hosts: [none], quads_wait_assignment_timeout: {PATIENCE_S}}}"
    tasks.write_text(use_tasks(waits), encoding="utf-8")

    limits = ("-s", "quads_lease_at_least=1s", "-s", f"quads_stop_before={stop_s}")
    ended = bare_metal.driver(*bare_metal.words, "-s", f"bare_metal_tasks={tasks}", *limits)

    assert ended.code == 1, ended.out + ended.err
    assert "the run stops 15 min before its end" in ended.out
    assert bare_metal.driver.document()["reason"]["kind"] == "LeaseEndsError"
    assert not bare_metal.active_assignments
    # it was released before its end
    assert all(row["end"] - row["start"] < timedelta(seconds=lease_s) for row in bare_metal.server.lab.rows)


def run_command(bare_metal: BareMetal, command: str, *options: str, user: str = "jane", code: int = 0) -> str:
    """Run a single command; return its output."""
    url = next(word.partition("=")[2] for word in bare_metal.words if word.startswith("quads_url="))
    login = ("--user", f"{user}@example.com", "--password", "file:quads" if user == "jane" else "file:admin")
    words = () if command == "list-assignments" else (*login, "--mark", "me/one")
    ended = bare_metal.driver("toolbox", "quads", command, "--url", url, *words, *options)
    assert ended.code == code, ended.out + ended.err
    return ended.out + ended.err


@pytest.fixture
def booked_by_hand(bare_metal: BareMetal, tmp_path: Path) -> BareMetal:
    """Book two hosts by a single command."""
    (tmp_path / "secrets" / "admin").write_text("planted-adm1n-w0rd", encoding="utf-8")
    (tmp_path / "secrets" / "admin").chmod(0o600)
    hosts = sorted(bare_metal.server.lab.hosts)[:2]
    run_command(bare_metal, "request-assignment", "--hosts", json.dumps(hosts), "--ticket", "PERF-1")
    return bare_metal


@pytest.mark.deep
def test_manual_extension_releases_no_hosts(booked_by_hand: BareMetal) -> None:
    lab = booked_by_hand.server.lab
    before = [row["end"] for row in lab.rows]
    assert len(before) == 2, "all hosts that are named are booked"

    run_command(booked_by_hand, "extend-assignment", "--lasting", "1h")
    assert [row["end"] for row in lab.rows] == before, "the lease is longer already"
    assert len(booked_by_hand.active_assignments) == 1

    run_command(booked_by_hand, "extend-assignment", "--lasting", "9d", "--admin", "--owner", "jane", user="root")
    assert all(row["end"] - row["start"] > timedelta(days=8) for row in lab.rows)
    assert len(booked_by_hand.active_assignments) == 1


@pytest.mark.deep
def test_refused_host_is_an_error_unless_fewer_are_accepted(bare_metal: BareMetal, tmp_path: Path) -> None:
    lab = bare_metal.server.lab
    hosts = [sorted(lab.hosts)[0], next(name for name, host in lab.hosts.items() if not host["open"])]
    words = ("request-assignment", "--hosts", json.dumps(hosts), "--ticket", "PERF-1")

    assert "booked 1 hosts of at least 2" in run_command(bare_metal, *words, code=1)
    assert not bare_metal.active_assignments

    assert "1 of 2 hosts booked; " in run_command(bare_metal, *words, "--at-least", "1")
    (assignment,) = bare_metal.active_assignments

    listed = run_command(bare_metal, "list-assignments")
    assert assignment["description"] in listed and hosts[0] in listed


@pytest.mark.deep
def test_finalize_waits_for_an_assignment_of_a_slow_server(bare_metal: BareMetal) -> None:
    bare_metal.server.lab.settings.ticket_s = 8
    run = bare_metal.driver.start(*bare_metal.words)
    record = "runs/*/quads/*cluster.json"
    bare_metal.wait_for(record, run)
    while '"requesting"' not in next(bare_metal.driver.folder.glob(record)).read_text(encoding="utf-8"):
        time.sleep(0.05)
    time.sleep(0.5)
    bare_metal.kill()
    run.communicate(timeout=PATIENCE_S)
    assert not bare_metal.server.lab.assignments

    finalized = bare_metal.driver("runs", "finalize", "latest")

    assert finalized.code == 0, finalized.out + finalized.err
    assert len(bare_metal.server.lab.assignments) == 1, "the server made it although the client was gone"
    assert not bare_metal.active_assignments


def finalize_and_check_hosts(bare_metal: BareMetal, run: subprocess.Popen[str], left: int = 0) -> None:
    """Finalize a killed run; check that its assignment is terminated, unless it keeps its hosts."""
    run.communicate(timeout=PATIENCE_S)
    wait_until_all_have_ended(bare_metal.driver.runs)
    check_undamaged(bare_metal.driver.runs)
    assert len(bare_metal.active_assignments) == 1

    finalized = bare_metal.driver("runs", "finalize", "latest")

    assert finalized.code == 0, finalized.out + finalized.err
    assert len(bare_metal.active_assignments) == left
    assert len(bare_metal.server.lab.assignments) == 1
