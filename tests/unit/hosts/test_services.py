"""Programs that keep running on a host: readiness, ownership, and cleanup."""

from __future__ import annotations

import base64
import fcntl
import json
import os
import signal
import socket
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.psap.perf.plugins.module_utils.hosts import measuring, services
from ansible_collections.psap.perf.plugins.module_utils.hosts.programs import HostSideError
from ansible_collections.psap.perf.plugins.module_utils.hosts.services import Service

from tests.dead_processes import wait_until_dead
from tests.polling import wait_until

pytestmark = pytest.mark.slow

PATIENCE_S = 30.0
# A server with a child that would survive it; it answers once the file exists.
SERVER = """
import http.server, os, pathlib, subprocess, sys, threading
child = subprocess.Popen(["sleep", "600"])
pathlib.Path("child").write_text(str(child.pid))
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200 if os.path.exists(sys.argv[2]) else 503)
        self.end_headers()
print("listens", flush=True)
http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""


def listen() -> bool:
    return True


def port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        number: int = free.getsockname()[1]
        return number


def server(tmp_path: Path, number: int, ready: Path, **given: Any) -> Service:
    program = [sys.executable, "server.py", str(number), str(ready)]
    directory = str(tmp_path / "work/one")
    return Service(directory, program, files={"server.py": SERVER}, url=f"http://127.0.0.1:{number}/", **given)


def is_alive(pid: int) -> bool:
    status = Path(f"/proc/{pid}/stat")
    return status.exists() and status.read_text().rpartition(")")[2].split()[0] != "Z"


@pytest.fixture(name="service")
def _service(tmp_path: Path) -> Iterator[Service]:
    """Return a server that is ready immediately, and stop it at the end."""
    (tmp_path / "ready").touch()
    service = server(tmp_path, port(), tmp_path / "ready", undo=(["touch", str(tmp_path / "undone")],))
    try:
        yield service
    finally:
        services.stop(service.directory, {}, PATIENCE_S)


def start_service(service: Service) -> int:
    """Start the service, wait until it is ready, and return its ID."""
    answer = services.start(service, listen, PATIENCE_S)
    assert (answer["problem"], answer["started"]) == (None, True)
    assert answer["ready_s"] > 0
    return int(Path(service.directory, measuring.LOCK).read_text())


def kill(pid: int, service: Service) -> None:
    """Kill the process that holds the service's lock and its child, which no stop does."""
    os.killpg(pid, signal.SIGKILL)
    for process in (pid, int(Path(service.directory, "child").read_text())):
        wait_until_dead(process)


def test_service_runs_until_stopped_and_its_leftovers_are_undone(service: Service, tmp_path: Path) -> None:
    pid = start_service(service)
    child = int(Path(service.directory, "child").read_text())
    assert is_alive(pid) and is_alive(child)
    answer = services.stop(service.directory, {}, PATIENCE_S)
    assert (answer["there"], answer["ran"]) == (True, True)
    assert base64.b64decode(answer["log"]).startswith(b"listens\n")
    wait_until_dead(child)
    assert not is_alive(pid)
    assert (tmp_path / "undone").exists()
    assert not (tmp_path / "work").exists()
    assert services.stop(service.directory, {}, PATIENCE_S)["there"] is False


def test_same_service_starts_once_and_another_is_refused(service: Service) -> None:
    pid = start_service(service)
    again = services.start(service, listen, PATIENCE_S)
    assert (again["started"], again["problem"]) == (False, None)
    other = services.start(Service(service.directory, ["sleep", "1"]), listen, PATIENCE_S)
    assert other["problem"].endswith(f"runs in {service.directory}, not sleep 1: stop it before")
    assert is_alive(pid)


def test_dead_service_is_reported_at_stop_and_replaced_at_start(service: Service, tmp_path: Path) -> None:
    kill(start_service(service), service)
    kill(start_service(service), service)
    assert (tmp_path / "undone").exists()
    answer = services.stop(service.directory, {}, PATIENCE_S)
    assert (answer["there"], answer["ran"]) == (True, False)


def test_service_that_is_never_ready_is_stopped_and_explained(tmp_path: Path) -> None:
    service = server(tmp_path, port(), tmp_path / "never", within_s=2.0)
    answer = services.start(service, listen, PATIENCE_S)
    assert "did not answer within 2 s. Output: listens" in answer["problem"]
    assert not (tmp_path / "work").exists()


@pytest.mark.parametrize(
    ("program", "message"),
    [
        (["sh", "-c", "echo no such model >&2; exit 3"], "it ended with 3. Output: no such model"),
        (["no-such-program"], "cannot start no-such-program: No such file"),
    ],
)
def test_service_that_cannot_run_is_reported_and_removed(tmp_path: Path, program: list[str], message: str) -> None:
    try:
        reason = services.start(Service(str(tmp_path / "work/one"), program), listen, PATIENCE_S)["problem"]
    except HostSideError as problem:
        reason = str(problem)
    assert message in reason
    assert not (tmp_path / "work").exists()


def test_port_of_another_process_is_refused(tmp_path: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        service = server(tmp_path, other.getsockname()[1], tmp_path)
        with pytest.raises(HostSideError, match="another program listens at http"):
            services.start(service, listen, PATIENCE_S)
    assert not (tmp_path / "work").exists()


def test_service_is_stopped_without_a_listener(tmp_path: Path) -> None:
    service = server(tmp_path, port(), tmp_path / "never")
    answer = services.start(service, lambda: False, PATIENCE_S)
    assert "the connection was closed" in answer["problem"]
    assert not (tmp_path / "work").exists()


def test_service_that_ignores_sigterm_is_killed(tmp_path: Path) -> None:
    program = ["sh", "-c", "trap '' TERM; echo deaf; while :; do sleep 0.1; done"]
    service = Service(str(tmp_path / "work/one"), program)
    assert services.start(service, listen, PATIENCE_S)["started"]
    pid = int(Path(service.directory, measuring.LOCK).read_text())
    assert services.stop(service.directory, {}, 0.5)["ran"]
    assert not is_alive(pid)


def test_undo_ends_the_service_and_keeps_foreign_directories(service: Service, tmp_path: Path) -> None:
    pid = start_service(service)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / measuring.LOCK).write_text(str(os.getpid()))
    assert not services.end(tmp_path / "other", PATIENCE_S)
    assert services.end(Path(service.directory), PATIENCE_S)
    assert measuring.remove(service.directory, {}, [], PATIENCE_S) is None
    assert not is_alive(pid)
    assert not (tmp_path / "work").exists()


def test_id_in_a_free_lock_belongs_to_no_process(service: Service) -> None:
    directory = Path(service.directory)
    directory.mkdir(parents=True)
    (directory / "service.json").write_text(json.dumps({"program": []}))
    # Otherwise this process would be ended.
    (directory / measuring.LOCK).write_text(str(os.getpid()))
    assert services.stop(service.directory, {}, PATIENCE_S)["ran"] is False


def test_abandoned_service_ends_by_itself_without_leftovers(tmp_path: Path) -> None:
    work = tmp_path / "work"
    (work / "bench").mkdir(parents=True)
    undo = (["touch", str(tmp_path / "undone")],)
    service = Service(str(work / "one"), ["sleep", "600"], undo=undo, attended_in=str(work))
    with (work / "bench" / measuring.LOCK).open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        pid = start_service(service)
        # Longer than the check takes; a slow check still finds it alive.
        time.sleep(3)
        assert is_alive(pid)
    wait_until_dead(pid)
    wait_until(lambda: not (work / "one").exists())
    assert (tmp_path / "undone").exists()
    assert (work / "bench").exists()


def test_two_detached_services_attend_no_caller(tmp_path: Path) -> None:
    given: dict[str, Any] = {"attended_in": str(tmp_path / "work"), "unattended_s": 3.0}
    # The second one is awaited while the first one runs, whose attendance of this caller ends then.
    pids = [start_service(Service(str(tmp_path / "work" / name), ["sleep", "600"], **given)) for name in ("one", "two")]
    for pid in pids:
        wait_until_dead(pid)
