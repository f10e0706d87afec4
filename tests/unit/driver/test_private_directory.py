"""The private directory of a worker: mode, removal, removal after a killed driver, room for a socket."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from perfdrv.ansible.private_directory import PREFIX, private_directory, remove_leftovers
from perfdrv.errors import UsageError

# The name in Ansible 2.21
SOCKET = "pymp-abcdefgh/listener-abcdefgh"


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder for temporary files."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


def test_private_directory_is_private_and_removed_at_the_end(temporary: Path) -> None:
    with private_directory() as private:
        assert private.path.parent == temporary
        for folder in (private.path, private.runner, private.temporary):
            assert folder.stat().st_mode & 0o777 == 0o700
        (place,) = set(private.variables().values())
        assert Path(place).resolve() == private.temporary.resolve()
        (private.runner / "extravars").write_text("x", encoding="utf-8")
    assert not private.path.exists()
    assert not private.link.is_symlink()


@pytest.mark.parametrize("length", [20, 90, 180])
def test_socket_path_is_short_for_every_user_folder(
    temporary: Path, monkeypatch: pytest.MonkeyPatch, length: int
) -> None:
    long = temporary / ("x" * length)
    long.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(long))
    with private_directory() as private, socket.socket(socket.AF_UNIX) as listener:
        assert private.path.parent == long
        path = Path(private.variables()["TMPDIR"]) / SOCKET
        path.parent.mkdir()
        listener.bind(str(path))
        assert (private.temporary / SOCKET).is_socket()
    assert not private.link.is_symlink()
    assert list(long.iterdir()) == []


def test_directory_of_a_dead_driver_only_is_removed(temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    long = temporary / ("x" * 90)
    long.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(long))
    program = (
        "from perfdrv.ansible.private_directory import private_directory\n"
        "with private_directory() as private: print(private.link, flush=True); input()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(long)},
    ) as other:
        assert other.stdout is not None
        link = Path(other.stdout.readline().strip())
        assert link.is_symlink()
        assert remove_leftovers() == []
        other.send_signal(signal.SIGKILL)
    assert remove_leftovers() == [long / link.name]
    assert not link.is_symlink()


def test_foreign_folder_is_left_unchanged(temporary: Path) -> None:
    elsewhere = temporary / "elsewhere"
    elsewhere.mkdir()
    (temporary / f"{PREFIX}link").symlink_to(elsewhere)
    (temporary / f"{PREFIX}file").touch()
    assert remove_leftovers() == []
    assert elsewhere.is_dir()


def test_missing_temporary_folder_is_one_sentence(temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.setattr("tempfile._candidate_tempdir_list", lambda: [str(temporary / "nowhere")])
    with pytest.raises(UsageError, match=r"cannot create temporary files: .*; free space, or set TMPDIR"):
        remove_leftovers()
    with pytest.raises(UsageError, match="cannot create temporary files"), private_directory():
        pass
