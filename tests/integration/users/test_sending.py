"""Send the artifacts of a user to a real S3 server, large files in parts."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from ansible_collections.psap.perf.plugins.module_utils.exporting.store import Store
from perflab.control_plane.certificates import Authority
from perflab.processes.ports import LOOPBACK

from tests.programs import ROLES, loaded
from tests.standins.s3_server import IDENTITY, SECRET, S3Server, Tls, s3_server

PROGRAM = ROLES / "shared_local_ci_users/files/export.py"
# the smallest part that S3 accepts
PART_BYTES = 5 << 20
CONTENT = os.urandom(2 * PART_BYTES + 7)


@pytest.fixture(scope="module", name="server")
def _server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    folder = tmp_path_factory.mktemp("s3")
    authority = Authority(folder / "pki")
    pair = authority.issue_server("server", [LOOPBACK])
    with s3_server(folder, LOOPBACK, Tls(pair.certificate, pair.key, authority.pair.certificate)) as server:
        server.bucket("runs").close()
        yield server


@pytest.fixture(name="program")
def _program(server: S3Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Load the program of user 1, with a small and a large file."""
    program = loaded(PROGRAM)
    export = {"bucket": "runs", "endpoint": server.endpoint, "region": "us-east-1", "prefix": tmp_path.name}
    files = {
        "plan.json": json.dumps({"export": export}),
        "store/access-key-id": IDENTITY,
        "store/secret-access-key": SECRET,
        "store/ca.crt": server.tls.authority.read_text() if server.tls else "",
        "artifacts/sub/a name.txt": "small",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "artifacts/large=1&2.bin").write_bytes(CONTENT)
    (tmp_path / "artifacts/exit_code").write_text("0")
    (tmp_path / "control").mkdir()
    folders = {"PLAN": "plan.json", "ARTIFACTS": "artifacts", "STORE": "store", "CONTROL": "control"}
    for name, path in folders.items():
        monkeypatch.setattr(program, name, tmp_path / path)
    monkeypatch.setattr(program, "PART_BYTES", PART_BYTES)
    monkeypatch.setattr(program, "PAUSE_S", 0.01)
    monkeypatch.setenv("JOB_COMPLETION_INDEX", "1")
    return program


@pytest.fixture(name="store")
def _store(server: S3Server) -> Iterator[Store]:
    store = server.bucket("runs")
    yield store
    store.close()


def test_large_file_is_sent_in_parts(program: ModuleType, server: S3Server, tmp_path: Path, store: Store) -> None:
    assert program.main() == 0
    exported = server.root / "runs" / tmp_path.name / "user-1"
    assert (exported / "sub" / "a name.txt").read_text() == "small"
    assert (exported / "large=1&2.bin").read_bytes() == CONTENT
    # a second container has sent them already
    (tmp_path / "artifacts" / "late.txt").write_text("late")
    assert program.main() == 0
    assert not (exported / "late.txt").exists()
    assert list(store._uploads("")) == []


def test_failing_part_leaves_no_upload(
    program: ModuleType,
    store: Store,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    request = program.Bucket._request

    def fail_later(self: object, method: str, key: str, query: dict[str, str], body: object) -> object:
        if query.get("partNumber") == "2":
            raise ConnectionResetError("reset")
        return request(self, method, key, query, body)

    monkeypatch.setattr(program.Bucket, "_request", fail_later)
    assert program.main() == 1
    assert "cannot send large=1&2.bin to https://" in capsys.readouterr().err
    assert list(store._uploads("")) == []
    assert [key for key in store.sizes("") if tmp_path.name in key] == []
