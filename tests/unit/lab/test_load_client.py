"""The lab's load client sends requests for the duration, and writes results that the analysis reads."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from perflab.worker.load_client import load_test

PARTS = [
    {"choices": [{"text": "a"}]},
    {"choices": [{"text": "b"}]},
    {"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 2}},
]


class Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        found = self.path == "/v1/completions" and asked["model"] == "tiny"
        self.send_response(200 if found else 503)
        self.end_headers()
        for part in PARTS if found else ():
            self.wfile.write(b"data: " + json.dumps(part).encode() + b"\n\n")
        self.wfile.write(b"data: [DONE]\n\n" if found else b"no such model")

    def log_message(self, *_words: object) -> None:
        """Print nothing."""


@pytest.fixture(name="url")
def _url() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


def configuration(url: str, folder: Path, model: str = "tiny") -> dict[str, Any]:
    return {
        "output": {"dir": str(folder), "file": "output.json"},
        "dataset": {"max_output_tokens": 2},
        "load_options": {"type": "constant", "concurrency": 2, "duration": 0.2},
        "plugin_options": {"model_name": model, "host": url, "endpoint": "/v1/completions"},
    }


def test_users_send_requests_until_the_duration_is_over(url: str, tmp_path: Path) -> None:
    config = tmp_path / "config.yml"
    config.write_text(json.dumps(configuration(url, tmp_path)))
    # as in a pod: without the packages of this environment
    command = [sys.executable, "-I", "-S", load_test.__file__, "-c", str(config)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    results = json.loads((tmp_path / "output.json").read_text())
    number = results["summary"]["total_requests"]
    assert done.stdout == f"{number} requests of 2 users, 0 failed\n"
    assert number == len(results["results"]) >= 2
    first = results["results"][0]
    assert (first["input_tokens"], first["output_tokens"], first["error_code"]) == (5, 2, None)
    assert first["start_time"] <= first["first_token_time"] <= first["end_time"]


def test_failed_requests_have_their_reason(url: str, tmp_path: Path) -> None:
    results = load_test.load(configuration(url, tmp_path, model="other"))
    assert results["summary"]["total_failures"] == len(results["results"])
    assert results["results"][0]["error_code"] == 503
    assert results["results"][0]["error_text"] == "503 Service Unavailable: no such model"
    refused = load_test.load(configuration("http://127.0.0.1:1", tmp_path))
    assert refused["results"][0]["error_text"].startswith("ConnectionRefusedError")
