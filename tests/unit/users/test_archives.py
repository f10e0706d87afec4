"""Artifacts of users from archives that may contain anything."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError
from ansible_collections.psap.perf.plugins.module_utils.users.archives import unpack


def archive(*names: str, link: str = "") -> io.BytesIO:
    """Return an archive with files of these names."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as made:
        for name in names:
            member = tarfile.TarInfo(name)
            member.size = len(name)
            made.addfile(member, io.BytesIO(name.encode()))
        if link:
            member = tarfile.TarInfo("link")
            member.type, member.linkname = tarfile.SYMTYPE, link
            made.addfile(member)
    stream.seek(0)
    return stream


def test_files_are_unpacked(tmp_path: Path) -> None:
    assert unpack(archive("a/b/file", "other"), tmp_path / "user-0") == 2
    assert (tmp_path / "user-0/a/b/file").read_text() == "a/b/file"


def test_paths_outside_and_links_are_left_out(tmp_path: Path) -> None:
    assert unpack(archive("../out", "/etc/out", "a/../../out", "in", link="/etc/passwd"), tmp_path / "user-0") == 1
    assert [path.name for path in tmp_path.rglob("*") if not path.is_dir()] == ["in"]


def test_damaged_archive_is_an_error(tmp_path: Path) -> None:
    whole = archive("file").getvalue()
    with pytest.raises(ClusterError, match="the artifacts of user-0 arrived damaged"):
        unpack(io.BytesIO(whole[:514]), tmp_path / "user-0")
