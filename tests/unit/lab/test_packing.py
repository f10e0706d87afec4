"""An archive of the lab's programs is used completely or not at all."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
from collections.abc import Mapping
from pathlib import Path

import pytest
from perflab.building import envoy, packing
from perflab.building.components import COMPONENTS, lock_hash
from perflab.building.sets import find_set, whole_set
from perflab.errors import ClusterError, UsageError

from tests.schemas import check

SETS = (lock_hash(COMPONENTS), envoy.lock_hash())


def no_output(text: str) -> None:
    del text


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    """Return a cache with two small sets."""
    folder = tmp_path / "cache"
    folder.mkdir()
    for name in SETS:
        with whole_set(folder / name, {"etcd": "v3"}, "go version go1.27.3") as partial:
            (partial / "bin/program").write_text(f"contents of {name}")
            (partial / "bin/program").chmod(0o755)
    return folder


@pytest.fixture
def archive(cache: Path, tmp_path: Path) -> Path:
    target = tmp_path / "lab.tar.gz"
    packing.pack([cache / name for name in SETS], target, no_output)
    return target


def members(archive: Path) -> dict[str, bytes]:
    """Return the contents of an archive's files by their names."""
    with tarfile.open(archive) as file:
        return {name: contents.read() for name in file.getnames() if (contents := file.extractfile(name))}


def rewrite(archive: Path, contents: Mapping[str, bytes]) -> None:
    with tarfile.open(archive, "w:gz") as file:
        for name, text in contents.items():
            member = tarfile.TarInfo(name)
            member.size = len(text)
            file.addfile(member, io.BytesIO(text))


def folders(cache: Path) -> list[str]:
    return sorted(path.name for path in cache.iterdir() if path.is_dir()) if cache.exists() else []


def refused(archive: Path, cache: Path, sha256: str | None = None) -> str:
    """Return the message for an archive that leaves *cache* unchanged."""
    with pytest.raises(UsageError) as error:
        packing.install(cache, str(archive), sha256, no_output)
    assert folders(cache) == []
    return str(error.value)


@pytest.mark.parametrize("as_url", [False, True])
def test_archive_fills_an_empty_cache(archive: Path, tmp_path: Path, as_url: bool) -> None:
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()
    packing.install(tmp_path / "other", archive.as_uri() if as_url else str(archive), digest, no_output)
    assert folders(tmp_path / "other") == sorted(SETS)
    for name in SETS:
        found = find_set(tmp_path / "other" / name)
        assert found is not None
        assert found.program("program").read_text() == f"contents of {name}"
        assert found.program("program").stat().st_mode & 0o777 == 0o755


def test_sets_in_the_cache_are_kept_and_damaged_ones_replaced(archive: Path, cache: Path) -> None:
    kept, damaged = (cache / name for name in SETS)
    before = kept.stat().st_ino
    (damaged / "bin/program").write_text("part")
    packing.install(cache, str(archive), None, no_output)
    assert kept.stat().st_ino == before
    assert (damaged / "bin/program").read_text() == f"contents of {damaged.name}"
    assert folders(cache) == sorted(SETS)


def test_record_follows_its_schema_and_has_lock_files_and_module_sums(archive: Path, cache: Path) -> None:
    record = json.loads(members(archive)["archive.json"])
    assert check(record) == packing.SCHEMA
    built = record["sets"][SETS[0]]
    etcd = COMPONENTS[0]
    go_sum = hashlib.sha256((etcd.folder / "go.sum").read_bytes()).hexdigest()
    assert built["locks"][f"{etcd.folder.name}/go.sum"] == go_sum
    assert built["modules"][f"{etcd.module} {etcd.version}"].startswith("h1:")
    assert built["compiler"] == "go version go1.27.3"


def test_same_programs_make_the_same_archive(archive: Path, cache: Path) -> None:
    before = archive.read_bytes()
    packing.pack([cache / name for name in SETS], archive, no_output)
    assert archive.read_bytes() == before


def test_unwritable_target_is_refused_and_leaves_no_file(cache: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot write the archive"):
        packing.pack([cache / SETS[0]], tmp_path / "missing/lab.tar.gz", no_output)
    assert not (tmp_path / "missing").exists()


def test_other_hash_than_the_expected_one_is_refused(archive: Path, tmp_path: Path) -> None:
    assert "its SHA-256 is" in refused(archive, tmp_path / "other", "0" * 64)


def test_truncated_archive_is_refused(archive: Path, tmp_path: Path) -> None:
    archive.write_bytes(archive.read_bytes()[:-100])
    assert "damaged archive" in refused(archive, tmp_path / "other")


def test_file_that_is_no_archive_is_refused(tmp_path: Path) -> None:
    other = tmp_path / "notes.txt"
    other.write_text("no archive")
    assert "damaged archive" in refused(other, tmp_path / "other")


def test_changed_program_is_refused(archive: Path, tmp_path: Path) -> None:
    contents = members(archive)
    rewrite(archive, {**contents, f"{SETS[0]}/bin/program": b"another program"})
    assert "program has another SHA-256" in refused(archive, tmp_path / "other")


def test_missing_and_additional_files_are_refused(archive: Path, tmp_path: Path) -> None:
    contents = members(archive)
    rewrite(archive, {**contents, f"{SETS[0]}/../../escaped": b""})
    assert "does not list" in refused(archive, tmp_path / "other")
    rewrite(archive, {name: text for name, text in contents.items() if name != f"{SETS[1]}/bin/program"})
    assert "1 files are missing" in refused(archive, tmp_path / "other")
    rewrite(archive, {name: text for name, text in contents.items() if name != "archive.json"})
    assert "does not begin with archive.json" in refused(archive, tmp_path / "other")


def test_listed_file_outside_of_its_set_is_refused(archive: Path, tmp_path: Path) -> None:
    contents = members(archive)
    record = json.loads(contents["archive.json"])
    record["sets"][SETS[0]]["files"]["../escaped"] = hashlib.sha256(b"").hexdigest()
    rewrite(archive, {**contents, "archive.json": json.dumps(record).encode(), f"{SETS[0]}/../escaped": b""})
    assert "a file has the name ../escaped" in refused(archive, tmp_path / "other")
    assert not (tmp_path / "other/escaped").exists()


def test_archive_of_another_machine_is_refused(archive: Path, tmp_path: Path) -> None:
    contents = members(archive)
    record = {**json.loads(contents["archive.json"]), "machine": "riscv64"}
    rewrite(archive, {**contents, "archive.json": json.dumps(record).encode()})
    assert "its programs are for riscv64" in refused(archive, tmp_path / "other")


def test_archive_of_other_versions_is_refused_with_the_differences(archive: Path, tmp_path: Path) -> None:
    contents = members(archive)
    record = json.loads(contents["archive.json"])
    record["sets"] = {"0123456789ab": {**record["sets"][SETS[0]], "versions": {"etcd": "v3.0.0"}}}
    rewrite(archive, {**contents, "archive.json": json.dumps(record).encode()})
    assert f"it has etcd v3.0.0 instead of {COMPONENTS[0].version}" in refused(archive, tmp_path / "other")


def test_unreachable_source_is_an_error_of_the_machine(tmp_path: Path) -> None:
    for source in (str(tmp_path / "missing"), (tmp_path / "missing").as_uri()):
        with pytest.raises(ClusterError, match="cannot install the programs of"):
            packing.install(tmp_path / "other", source, None, no_output)
