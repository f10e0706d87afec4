"""Export to a real MLflow (`make mlflow`): once however often, a server that is away, and a refused token."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import threading
import time
import urllib.request
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from perfanalysis.results.history.folder import add

from tests.data.synthetic_runs import Shape, write_run
from tests.polling import PATIENCE_S
from tests.programs import PROJECT
from tests.unit.analysis.histories import document, kpi

PROGRAMS = PROJECT / "build/mlflow/bin"
pytestmark = [
    pytest.mark.deep,
    pytest.mark.skipif(not (PROGRAMS / "mlflow").exists(), reason="make mlflow was not run"),
]
TOKEN = "token-of-a-test"


@pytest.fixture(scope="module", name="server")
def _server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Yield the address of a server with its data in a folder of the test."""
    folder = tmp_path_factory.mktemp("mlflow")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [PROGRAMS / "mlflow", "server", "--host", "127.0.0.1", "--port", str(port), "--workers", "1"]
    store = ["--backend-store-uri", f"sqlite:///{folder}/runs.db", "--default-artifact-root", str(folder / "files")]
    with (folder / "log").open("w") as log:
        process = subprocess.Popen([*map(str, command), *store], stdout=log, stderr=log, start_new_session=True)
    try:
        _wait_until_healthy(f"http://127.0.0.1:{port}/health", process)
        yield f"http://127.0.0.1:{port}"
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(timeout=PATIENCE_S)


def _wait_until_healthy(url: str, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        assert process.poll() is None
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except OSError:
            time.sleep(0.5)
    raise TimeoutError(url)


def export(history: Path, url: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Export a history with the client of the server's environment."""
    command = [str(PROGRAMS / "perfanalysis"), "history", "mlflow", str(history), "--to", url]
    environment = {**os.environ, **variables}
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)


def runs_of(server: str, experiment: str) -> list[dict[str, Any]]:
    """Return the active runs of an experiment, by the server's REST API."""
    found = _post(server, "experiments/search", {"max_results": 100})["experiments"]
    [identity] = [each["experiment_id"] for each in found if each["name"] == experiment]
    return list(_post(server, "runs/search", {"experiment_ids": [identity]}).get("runs", []))


def _post(server: str, what: str, body: dict[str, Any]) -> dict[str, Any]:
    request = urllib.request.Request(
        f"{server}/api/2.0/mlflow/{what}", json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request) as answer:
        found: dict[str, Any] = json.load(answer)
    return found


def _values(run: dict[str, Any], what: str) -> dict[str, Any]:
    return {each["key"]: each["value"] for each in run["data"][what]}


def test_runs_are_exported_once(server: str, tmp_path: Path) -> None:
    history = tmp_path / "history"
    facts = {"cluster.version": "4.20", "site": "bench-7", "setting.scale_test_rate": 40}
    for day in range(1, 4):
        add(history, document(day, [kpi("wait", day + 1 / 3), kpi("rate", 7.0, "higher")], facts=facts))
    done = export(history, server)
    assert done.stdout == "3 runs exported, 0 already there\n", done.stderr
    assert export(history, server).stdout == "0 runs exported, 3 already there\n"
    found = runs_of(server, "psap-perf/scale_test")
    assert sorted(run["info"]["run_name"] for run in found) == ["run-001", "run-002", "run-003"]
    first = next(run for run in found if run["info"]["run_name"] == "run-001")
    assert _values(first, "metrics") == {"wait": 1 + 1 / 3, "rate": 7.0}
    assert _values(first, "params") == {"scale_test_rate": "40", "scale_test_count": "100"}
    assert _values(first, "tags")["cluster.version"] == "4.20"
    assert "bench-7" not in json.dumps(found)
    assert first["info"]["status"] == "FINISHED"
    # 2026-03-02T00:00:00Z
    assert first["info"]["start_time"] == 1772409600000
    add(history, document(1, [kpi("wait", 9.0)], analysis="2.0.0", facts=facts))
    assert export(history, server).stdout == "1 run exported, 2 already there\n"
    again = [run for run in runs_of(server, "psap-perf/scale_test") if run["info"]["run_name"] == "run-001"]
    assert [_values(run, "metrics") for run in again] == [{"wait": 9.0}]


def test_driver_exports_a_run(server: str, tmp_path: Path) -> None:
    run = write_run(tmp_path / "runs", [Shape(workloads=20, nodes=2, duration=1.0)])
    command = [str(PROGRAMS / "perfdrv"), "export", str(run), "--mlflow", server]
    for end in ("", ", already there"):
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=PROJECT)
        assert done.stdout == f"mlflow  {server} psap-perf/scale_test{end}\n", done.stderr
    [found] = [each for each in runs_of(server, "psap-perf/scale_test") if each["info"]["run_name"] == run.name]
    assert len(_values(found, "metrics")) > 10


def test_server_that_is_away_is_one_sentence(tmp_path: Path) -> None:
    add(tmp_path / "history", document(1, [kpi("wait", 1.0)]))
    began = time.monotonic()
    done = export(tmp_path / "history", "http://127.0.0.1:9")
    assert done.returncode == 3
    assert done.stderr == (
        "Error: http://127.0.0.1:9 cannot be reached: check the address; repeat the export, nothing is stored twice\n"
    )
    assert time.monotonic() - began < 60


class _Guard(BaseHTTPRequestHandler):
    """Refuses every token, and remembers it."""

    tokens: list[str]

    def do_GET(self) -> None:
        """Refuse."""
        self.tokens.append(str(self.headers.get("Authorization")))
        self.send_response(401)
        self.end_headers()

    def log_message(self, *_arguments: object) -> None:
        """Log no requests."""


def test_refused_token_is_one_sentence_without_the_token(tmp_path: Path) -> None:
    add(tmp_path / "history", document(1, [kpi("wait", 1.0)]))
    _Guard.tokens = []
    with HTTPServer(("127.0.0.1", 0), _Guard) as guard:
        thread = threading.Thread(target=guard.serve_forever, args=(0.05,))
        thread.start()
        done = export(tmp_path / "history", f"http://127.0.0.1:{guard.server_port}", MLFLOW_TRACKING_TOKEN=TOKEN)
        guard.shutdown()
        thread.join()
    assert done.returncode == 3
    assert "refuses the credentials (401): check MLFLOW_TRACKING_TOKEN" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert TOKEN not in done.stdout + done.stderr
    assert set(_Guard.tokens) == {f"Bearer {TOKEN}"}
