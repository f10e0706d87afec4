"""The program of the download pod, against a hub on this machine."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.programs import ROLES, loaded

PROGRAM = ROLES / "storage_download_to_pvc/files/download.py"
WEIGHTS = b"w" * 3_000_000
SUM = hashlib.sha256(WEIGHTS).hexdigest()


class Hub:
    """Answer by path; responses that *broken* counts down end too early."""

    def __init__(self) -> None:
        self.answers: dict[str, tuple[int, bytes | str]] = {}
        self.asked: list[tuple[str, str | None]] = []
        self.broken = 0
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.address = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    def _handler(hub) -> type[BaseHTTPRequestHandler]:  # noqa: N805 - the handler is the one that is self
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                path = self.path.partition("?")[0]
                hub.asked.append((path, self.headers.get("Authorization")))
                status, body = hub.answers.get(path, (404, b"no"))
                self.send_response(status)
                if isinstance(body, str):
                    self.send_header("Location", body)
                    body = b""
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                if hub.broken:
                    hub.broken -= 1
                    body = body[: len(body) // 2]
                self.wfile.write(body)

            def log_message(self, *_words: Any) -> None:
                pass

        return Handler

    def model(self, name: str, *files: dict[str, Any], revision: str = "main") -> None:
        listing = json.dumps({"siblings": list(files)}).encode()
        self.answers[f"/api/models/{name}/revision/{revision}"] = (200, listing)

    def times(self, path: str) -> int:
        return sum(asked == path for asked, _token in self.asked)


@pytest.fixture(name="hub")
def _hub() -> Iterator[Hub]:
    hub = Hub()
    yield hub
    hub.server.shutdown()
    hub.server.server_close()


@pytest.fixture(name="program")
def _program(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.setenv("HF_ENDPOINT", hub.address)
    monkeypatch.setenv("DOWNLOAD_PAUSE_S", "0")
    return loaded(PROGRAM)


def download(program: ModuleType, folder: Path, source: str, token: str = "", **wanted: Any) -> int:
    job = {"name": "data", "source": source, "storage_dir": "/model", "clean_first": False, "open_to_all": False}
    (folder / "job.json").write_text(json.dumps({**job, **wanted}))
    if token:
        (folder / "creds").write_text(token)
    code: int = program.main(folder / "job.json", folder / "volume", folder / "creds")
    return code


def test_all_files_of_a_model_are_downloaded_with_checksums(
    program: ModuleType, hub: Hub, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hub.model("org/small", {"rfilename": "a/config.json"}, {"rfilename": "w.bin", "lfs": {"sha256": SUM}})
    hub.answers["/org/small/resolve/main/a/config.json"] = (200, b"{}")
    hub.answers["/org/small/resolve/main/w.bin"] = (302, f"{hub.address}/elsewhere/w.bin")
    hub.answers["/elsewhere/w.bin"] = (200, WEIGHTS)
    assert download(program, tmp_path, "hf://org/small", token="hub-token\n") == 0
    folder = tmp_path / "volume/model/data"
    assert (folder / "a/config.json").read_text() == "{}"
    assert (folder / "w.bin").read_bytes() == WEIGHTS
    output = capsys.readouterr().out
    assert f"{SUM}  model/data/w.bin" in output
    assert "hub-token" not in output
    tokens = dict(hub.asked)
    assert tokens["/org/small/resolve/main/w.bin"] == "Bearer hub-token"
    assert tokens["/elsewhere/w.bin"] is None, "a token is for the hub only"

    assert download(program, tmp_path, "hf://org/small") == 0
    assert hub.times("/elsewhere/w.bin") == 1, "what is there with the right sum is not fetched again"
    assert download(program, tmp_path, "hf://org/small", clean_first=True) == 0
    assert hub.times("/elsewhere/w.bin") == 2


def test_hub_revision_data_set_and_page_are_recognized(program: ModuleType, hub: Hub, tmp_path: Path) -> None:
    hub.model("org/m", {"rfilename": "x"}, revision="v2")
    hub.answers["/org/m/resolve/v2/x"] = (200, b"2")
    assert download(program, tmp_path, "hf://org/m:v2") == 0
    hub.answers["/api/datasets/org/d/revision/main"] = (200, json.dumps({"siblings": [{"rfilename": "x"}]}).encode())
    hub.answers["/datasets/org/d/resolve/main/x"] = (200, b"d")
    assert download(program, tmp_path, "https://huggingface.co/datasets/org/d") == 0
    assert (tmp_path / "volume/model/data/x").read_text() == "d"


def test_other_address_is_one_file(program: ModuleType, hub: Hub, tmp_path: Path) -> None:
    hub.answers["/alpaca.json"] = (200, b"[]")
    assert download(program, tmp_path, f"{hub.address}/alpaca.json", token="hub-token") == 0
    assert (tmp_path / "volume/model/data").read_text() == "[]"
    assert hub.asked == [("/alpaca.json", None)]


def test_interrupted_file_is_fetched_again(program: ModuleType, hub: Hub, tmp_path: Path) -> None:
    hub.answers["/w"] = (200, WEIGHTS)
    hub.broken = 2
    assert download(program, tmp_path, f"{hub.address}/w") == 0
    assert (tmp_path / "volume/model/data").read_bytes() == WEIGHTS
    assert hub.times("/w") == 3


@pytest.mark.parametrize(
    ("answers", "source", "message", "times"),
    [
        ({}, "/missing", "404 Not Found", 1),
        ({"/busy": (503, b"")}, "/busy", "503 Service Unavailable, 5 times", 5),
    ],
)
def test_failed_download_is_reported(
    program: ModuleType,
    hub: Hub,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    answers: dict[str, tuple[int, bytes | str]],
    source: str,
    message: str,
    times: int,
) -> None:
    hub.answers |= answers
    assert download(program, tmp_path, hub.address + source) == 1
    assert message in capsys.readouterr().out
    assert hub.times(source) == times
    assert list((tmp_path / "volume/model").iterdir()) == []


def test_file_with_a_wrong_checksum_is_not_kept(program: ModuleType, hub: Hub, tmp_path: Path) -> None:
    hub.model("org/m", {"rfilename": "w", "lfs": {"sha256": SUM}})
    hub.answers["/org/m/resolve/main/w"] = (200, b"other")
    assert download(program, tmp_path, "hf://org/m") == 1
    assert not (tmp_path / "volume/model/data/w").exists()


def test_hub_cannot_write_outside_the_folder(
    program: ModuleType, hub: Hub, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hub.model("org/m", {"rfilename": "../../../evil"})
    hub.answers["/org/m/resolve/main/../../../evil"] = (200, b"x")
    assert download(program, tmp_path, "hf://org/m") == 1
    assert "would go elsewhere" in capsys.readouterr().out


def test_git_config_line_has_the_token(program: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "creds").write_text("https://someone:hub-token@huggingface.co\n")
    assert program.token_of(tmp_path / "creds") == "hub-token"
    assert program.token_of(tmp_path / "none") is None


def test_s3_without_its_program_is_refused(
    program: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert download(program, tmp_path, "s3://bucket/model") == 1
    assert "s3:// needs an image with the program aws" in capsys.readouterr().out


def test_s3_uses_aws_with_its_credentials_file(
    program: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program_aws = tmp_path / "aws"
    program_aws.write_text('#!/bin/sh\n/bin/cat "$AWS_SHARED_CREDENTIALS_FILE" > "$6/came"\necho "$5" >> "$6/came"\n')
    program_aws.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert download(program, tmp_path, "s3://bucket/model", token="[default]\n", open_to_all=True) == 0
    came = tmp_path / "volume/model/data/came"
    assert came.read_text() == "[default]\ns3://bucket/model\n"
    assert came.stat().st_mode & 0o444 == 0o444
