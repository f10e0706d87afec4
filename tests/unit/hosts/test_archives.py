"""Archives of folders: their contents, and the refused ones."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path

import pytest
from ansible_collections.psap.perf.plugins.module_utils.hosts.archives import ArchiveError, digest, pack, unpack


def archive_with(path: Path, name: str, kind: bytes = tarfile.REGTYPE, link: str = "") -> Path:
    member = tarfile.TarInfo(name)
    member.type, member.linkname = kind, link
    with tarfile.open(path, "w:gz") as tar:
        tar.addfile(member, io.BytesIO())
    return path


def test_tree_and_file_arrive_unchanged(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    (tree / "in").mkdir(parents=True)
    (tree / "in/run").write_text("x" * 10)
    (tree / "in/run").chmod(0o755)
    (tree / "link").symlink_to("in/run")
    packed = pack(tree, tmp_path / "archive", 100)
    unpack(tmp_path / "archive", tmp_path / "there")
    assert (packed.files, packed.content_bytes, packed.sha256) == (1, 10, digest(tmp_path / "archive"))
    assert (tmp_path / "there/link").read_text() == "x" * 10
    assert (tmp_path / "there/in/run").stat().st_mode & 0o111
    pack(tree / "in/run", tmp_path / "one", 100)
    unpack(tmp_path / "one", tmp_path / "alone")
    assert [path.name for path in (tmp_path / "alone").iterdir()] == ["run"]


def test_missing_or_too_large_source_is_refused(tmp_path: Path) -> None:
    (tmp_path / "large").write_bytes(b"x" * 101)
    with pytest.raises(ArchiveError, match="has more than 0 MiB"):
        pack(tmp_path / "large", tmp_path / "archive", 100)
    with pytest.raises(ArchiveError, match="does not exist"):
        pack(tmp_path / "none", tmp_path / "archive", 100)


@pytest.mark.parametrize(
    ("name", "kind", "link"),
    [
        ("../out", tarfile.REGTYPE, ""),
        ("/out", tarfile.REGTYPE, ""),
        ("device", tarfile.CHRTYPE, ""),
        ("hard", tarfile.LNKTYPE, "/etc/passwd"),
        ("soft", tarfile.SYMTYPE, "../../out"),
    ],
)
def test_archive_that_writes_outside_is_refused(tmp_path: Path, name: str, kind: bytes, link: str) -> None:
    with pytest.raises(ArchiveError, match=name.strip("./")):
        unpack(archive_with(tmp_path / "archive", name, kind, link), tmp_path / "there")
    assert not (tmp_path / "out").exists()
