"""crc refresh-image when it is killed, interrupted, or reaches another machine; moto and an sshd replace AWS."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.integration.conftest import PROGRAMS, PROJECT
from tests.polling import PATIENCE_S, wait_until
from tests.standins.aws.image_machine import look

pytestmark = pytest.mark.deep
KEYS = "[default]\naws_access_key_id = an-id\naws_secret_access_key = a-secret-key\n"
NOTHING: dict[str, Any] = {"images": {}, "machines": [], "volumes": [], "groups": [], "snapshots": []}


@pytest.fixture(scope="module", name="folder")
def _folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("image_machine")
    command = [sys.executable, "-m", "tests.standins.aws.image_machine", "serve", str(folder)]
    environment = {**os.environ, "PYTHONPATH": str(PROJECT / "collections")}
    with subprocess.Popen(command, cwd=PROJECT, env=environment) as serving:
        wait_until(lambda: (folder / "aws.json").exists() or serving.poll() is not None)
        yield folder
        (folder / "aws.json").unlink()


def start(folder: Path, runs: Path, name: str, repository: str) -> subprocess.Popen[str]:
    """Start the command; its runs go to *runs*."""
    aws = json.loads((folder / "aws.json").read_text())
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("ANSIBLE_", "PERF_", "KUBE"))}
    given = {
        "source-snapshot-id": aws["snapshot"],
        "new-ami-name": name,
        "key-pair-name": "molecule",
        "private-key": "env:MACHINE_KEY",
        "ssh-source": "198.51.100.7/32",
        "git-repo": repository,
        "git-branch": "main",
        "aws-region": aws["region"],
        "aws-availability-zone": f"{aws['region']}a",
        "worker-ami-id": aws["machine_image"],
        "ami-image-user": aws["user"],
        "credentials": "env:AWS_KEYS",
        "endpoint": aws["endpoint"],
        "timeout": "2m",
    }
    words = [word for option, value in given.items() for word in (f"--{option}", value)]
    return subprocess.Popen(
        [str(PROGRAMS / "perfdrv"), "toolbox", "crc", "refresh-image", *words, "-i", "local"],
        cwd=PROJECT,
        env={
            **kept,
            "PATH": f"{folder / 'client'}:{PROGRAMS}:{os.environ['PATH']}",
            "PERF_RUNS_DIR": str(runs),
            "MACHINE_KEY": (folder / "key").read_text(),
            "AWS_KEYS": KEYS,
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


@pytest.fixture(name="endless")
def _endless() -> Iterator[str]:
    """Yield a repository whose server never answers, so that the script clones it until it is stopped."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"http://127.0.0.1:{server.getsockname()[1]}/snc"


def test_next_call_deletes_leftovers_even_if_interrupted(folder: Path, tmp_path: Path, endless: str) -> None:
    def cloning() -> bool:
        return any((folder / "home").glob("psap-perf-image/*.sh")) and bool(list(tmp_path.rglob("script.log")))

    process = start(folder, tmp_path, "killed", endless)
    wait_until(cloning, during=process)
    process.kill()
    process.communicate()
    (left,) = look(folder)["machines"]
    for log in tmp_path.rglob("script.log"):
        log.unlink()

    process = start(folder, tmp_path, "killed", endless)
    wait_until(cloning, during=process)
    (machine,) = look(folder)["machines"]
    assert machine != left
    process.send_signal(signal.SIGINT)
    output, _nothing = process.communicate(timeout=PATIENCE_S)

    assert process.returncode == 130, output
    assert look(folder) == NOTHING
    texts = [path.read_text(errors="replace") for path in tmp_path.rglob("*") if path.is_file()]
    assert not any("PRIVATE KEY" in text for text in texts)


def test_machine_with_another_key_is_not_contacted(folder: Path, tmp_path: Path) -> None:
    (folder / "impostor").touch()
    process = start(folder, tmp_path, "impostor", str(folder / "snc"))
    output, _nothing = process.communicate(timeout=PATIENCE_S)
    (folder / "impostor").unlink()

    assert process.returncode == 3, output
    assert "is another machine, or its image does not have cloud-init" in output
    assert look(folder) == NOTHING
    assert not list((folder / "home").iterdir())
