"""The client of the API of Kubeflow Pipelines, against a server, and the notebook in its pod."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import tarfile
import threading
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, BinaryIO

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError
from ansible_collections.psap.perf.plugins.module_utils.kube_api.pod_exec import Executed
from ansible_collections.psap.perf.plugins.module_utils.pipelines import submitting
from ansible_collections.psap.perf.plugins.module_utils.pipelines.notebook import (
    execute,
    fetch_results,
    read_runs,
    requested_runs,
)
from ansible_collections.psap.perf.plugins.module_utils.pipelines.runs import Requested
from ansible_collections.psap.perf.plugins.module_utils.pipelines.submitting import ApiError, Plan, Server, submit

ROLE = Path(submitting.__file__).parents[3] / "roles/pipelines_run_kfp_notebook/files"


class Api(BaseHTTPRequestHandler):
    """Accepts one pipeline, and runs except those named `bad`; a run ends when it is asked for the second time."""

    def log_message(self, *_: Any) -> None:
        """Write nothing."""

    def _answer(self, document: Any, status: int = 200) -> None:
        body = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self) -> None:
        """Upload or create a run."""
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.asked.append((self.path, self.headers.get("Authorization"), body))  # type: ignore[attr-defined]
        if "upload" in self.path:
            self._answer({"pipeline_id": "p"})
        elif json.loads(body)["display_name"] == "bad":
            self._answer({"error": "quota exceeded"}, 429)
        else:
            self._answer({"run_id": json.loads(body)["display_name"]})

    def do_GET(self) -> None:
        """Return the version of the pipeline, or the state of a run."""
        if "versions" in self.path:
            self._answer({"pipeline_versions": [{"pipeline_version_id": "v"}]})
            return
        polls = self.server.polls  # type: ignore[attr-defined]
        polls.append(self.path)
        self._answer({"state": "SUCCEEDED" if polls.count(self.path) > 1 else "RUNNING"})


@pytest.fixture
def api() -> Iterator[Any]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Api) as server:
        server.asked, server.polls = [], []  # type: ignore[attr-defined]
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        yield server
        server.shutdown()


def url(server: Any) -> str:
    return f"http://127.0.0.1:{server.server_address[1]}"


def test_runs_are_created_with_delays_and_a_refused_one_does_not_stop_the_others(api: Any) -> None:
    kept: list[int] = []
    pauses: list[float] = []
    plan = Plan("flip", ("a", "bad", "c"), 7.0, sequential=False)
    runs = submit(Server(url(api), token="t"), plan, b"spec", lambda each: kept.append(len(each)), pauses.append)
    assert [(run.name, run.id, bool(run.error)) for run in runs] == [
        ("a", "a", False),
        ("bad", "", True),
        ("c", "c", False),
    ]
    assert "429" in runs[1].error
    assert (kept, pauses) == ([1, 2, 3], [7.0, 7.0])
    assert {bearer for _path, bearer, _body in api.asked} == {"Bearer t"}
    assert b"spec" in api.asked[0][2]


def test_sequential_runs_wait_for_the_end_of_the_run_before(api: Any) -> None:
    pauses: list[float] = []
    plan = Plan("flip", ("a", "b"), 0.0, sequential=True)
    submit(Server(url(api)), plan, b"spec", lambda _runs: None, pauses.append)
    assert [path.rpartition("/")[2] for path in api.polls] == ["a", "a", "b", "b"]


def test_silent_api_is_reported() -> None:
    with pytest.raises(ApiError, match="does not answer"):
        submit(Server("http://127.0.0.1:9"), Plan("flip", ("a",), 0, sequential=False), b"", lambda _runs: None)


@pytest.fixture
def pod(api: Any, tmp_path: Path) -> Any:
    """Return a function that runs a program as the notebook's pod does, without Jupyter."""
    files, results = tmp_path / "files", tmp_path / "results"
    files.mkdir()
    for path in (ROLE / "hello_world").iterdir():
        (files / path.name).write_bytes(path.read_bytes())
    (files / "submitting.py").write_bytes(Path(submitting.__file__).read_bytes())
    environment = {
        "DSP_ENDPOINT": url(api),
        "DSP_TOKEN_FILE": str(tmp_path / "token"),
        "DSP_CA_FILE": str(tmp_path / "none"),
        "PIPELINE_NAME": "flip",
        "PIPELINE_FILE": "hello_world.yaml",
        "RUN_NAMES": "run1 run2",
        "RUN_DELAY": "0",
        "WAIT_FOR_RUN_COMPLETION": "false",
        "STEP_IMAGE": "image:1",
        "NOTEBOOK_DIRECTORY": str(files),
        "RESULTS_DIRECTORY": str(results),
    }
    (tmp_path / "token").write_text("a-token\n")

    def run(argv: Sequence[str], output: BinaryIO, **changes: str) -> Executed:
        env = {**environment, **changes, "PATH": os.environ["PATH"]}
        # isolated: the interpreter of the tests may have Jupyter
        done = subprocess.run([sys.executable, "-S", *argv[1:]], env=env, capture_output=True, check=False)
        output.write(done.stdout)
        return Executed(done.returncode, done.stderr.decode())

    return run


def test_example_notebook_creates_the_runs_in_its_pod(pod: Any, api: Any, tmp_path: Path) -> None:
    program, folder = str(ROLE / "execute.py"), tmp_path / "kept"
    folder.mkdir()
    execute(pod, program, "kfp_hello_world.ipynb", folder / "output.txt")
    assert fetch_results(pod, program, folder) == ["kfp_hello_world.py", "runs.json"]
    assert (folder / "output.txt").read_text() == "run1: run1\nrun2: run2\n"
    assert [run["name"] for run in read_runs(folder / "runs.json")] == ["run1", "run2"]
    assert b"image:1" in api.asked[0][2]
    assert b"STEP_IMAGE}\n" not in api.asked[0][2]


def test_failed_notebook_is_reported_with_its_error(pod: Any, tmp_path: Path) -> None:
    def failing(argv: Sequence[str], output: BinaryIO) -> Executed:
        done: Executed = pod(argv, output, RUN_NAMES="run1 bad")
        return done

    with pytest.raises(ClusterError, match=r"failed with exit code 1: 1 runs were refused"):
        execute(failing, str(ROLE / "execute.py"), "kfp_hello_world.ipynb", tmp_path / "output.txt")


def test_results_outside_of_the_folder_are_written_by_their_name(tmp_path: Path) -> None:
    def run(_argv: Sequence[str], output: BinaryIO) -> Executed:
        content = io.BytesIO()
        with tarfile.open(fileobj=content, mode="w") as archive:
            for name in ("../../escaped", "/runs.json"):
                member = tarfile.TarInfo(name)
                member.size = 2
                archive.addfile(member, io.BytesIO(b"[]"))
            link = tarfile.TarInfo("link")
            link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
            archive.addfile(link)
        output.write(content.getvalue())
        return Executed(0, "")

    assert fetch_results(run, "execute.py", tmp_path / "inner") == ["escaped", "runs.json"]
    assert sorted(path.name for path in (tmp_path / "inner").iterdir()) == ["escaped", "runs.json"]


@pytest.mark.parametrize("text", ["{", "{}", "[1]"])
def test_damaged_record_of_runs_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "runs.json").write_text(text)
    with pytest.raises(ClusterError, match=r"runs\.json"):
        read_runs(tmp_path / "runs.json")


def test_runs_that_the_notebook_did_not_record() -> None:
    recorded = [{"name": "a", "asked_s": 1.5, "error": ""}]
    assert requested_runs(["a", "b"], recorded) == [Requested("a", 1.5), Requested("b")]
    assert requested_runs(["a", "b"], recorded, "broken")[1].error == "not requested: broken"
