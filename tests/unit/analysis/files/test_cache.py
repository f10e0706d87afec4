"""The cache depends on contents, not on times; damaged files are rebuilt; nothing is ever unpickled."""

from __future__ import annotations

import json
import os
import pickle
import shutil
import threading
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from perfanalysis.errors import UsageError
from perfanalysis.files.cache import Cache, content_hash, load_tables, own_hash, tables_folder
from perfanalysis.files.discovery import Place
from perfanalysis.files.findings import Finding
from perfanalysis.files.recording_files import RecordingFiles
from perfanalysis.files.tables import specs_of
from perfanalysis.workloads.kinds import shipped
from perfanalysis.workloads.parsing import parse_run
from perfanalysis.workloads.scale_test.analysis import WORKLOAD
from perfanalysis.workloads.scale_test.tables import ScaleTestTables

from tests.data.downloads import DOWNLOADS, write_downloads
from tests.data.synthetic_runs import Shape, write_recording
from tests.schemas import check_file

pytestmark = pytest.mark.slow


class Counting:
    """Load tables and count how often they were parsed."""

    def __init__(self, tmp_path: Path) -> None:
        self.place = Place(tmp_path / "artifacts", "artifacts", "recording.json", None)
        self.folder = tmp_path / "tables"
        self.parsed = 0
        self.version = 1
        self.meanwhile: Callable[[], Any] = int

    def _parse(self, source: RecordingFiles) -> ScaleTestTables:
        self.parsed += 1
        tables = WORKLOAD.parse(source)
        self.meanwhile()
        return tables

    def load(self) -> tuple[ScaleTestTables, tuple[Finding, ...]]:
        workload = replace(WORKLOAD, parse=self._parse, version=self.version)
        return load_tables(workload, RecordingFiles(self.place), self.folder)


@pytest.fixture
def counting(tmp_path: Path) -> Counting:
    write_recording(tmp_path / "artifacts", Shape(workloads=20, nodes=2, duration=1.0), "run")
    loader = Counting(tmp_path)
    loader.load()
    return loader


def test_stored_tables_equal_parsed_tables(counting: Counting) -> None:
    stored, _ = counting.load()
    parsed = WORKLOAD.parse(RecordingFiles(counting.place))
    assert counting.parsed == 1
    for name in ("submissions", "transitions", "events", "nodes"):
        first, second = getattr(stored, name), getattr(parsed, name)
        assert first.dtypes.astype(str).tolist() == second.dtypes.astype(str).tolist()
        assert first.astype("object").equals(second.astype("object"))


def test_changed_byte_invalidates_the_cache(counting: Counting) -> None:
    path = counting.place.directory / "submissions.jsonl"
    path.write_text(path.read_text().replace('"attempts":1', '"attempts":2', 1))
    tables, _ = counting.load()
    assert counting.parsed == 2
    assert (tables.submissions["attempts"] == 2).sum() == 1


def test_removed_file_invalidates_the_cache(counting: Counting) -> None:
    (counting.place.directory / "events.jsonl").unlink()
    _, findings = counting.load()
    assert counting.parsed == 2
    assert [finding.text for finding in findings] == ["the file is missing"]


class Bomb:
    """Create a file when unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return (Path.touch, (self.path,))


@contextmanager
def explosive_pickle(path: Path) -> Any:
    """Yield a pickle that would create a file; check that no file exists at the end."""
    yield pickle.dumps(Bomb(path))
    assert not path.exists()


def _flip_one_bit(content: bytes) -> bytes:
    """Change one bit of the data, which Parquet alone would not notice."""
    middle = len(content) // 3
    return content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]


def _extension_file(pickled: bytes) -> bytes:
    """Return a Parquet file whose Arrow schema requests an extension type that a pickle describes."""
    metadata = {b"ARROW:extension:name": b"arrow.py_extension_type", b"ARROW:extension:metadata": pickled}
    schema = pa.schema([pa.field("at_s", pa.binary(), metadata=metadata)])
    sink = pa.BufferOutputStream()
    parquet.write_table(pa.table([pa.array([b"x"])], schema=schema), sink)
    return bytes(sink.getvalue())


DAMAGES: dict[str, Callable[[bytes, bytes], bytes]] = {
    "truncated": lambda content, _: content[:200],
    "empty": lambda content, _: b"",
    "random": lambda content, _: bytes(range(256)) * 4,
    "pickle": lambda content, bomb: bomb,
    "extended": lambda content, bomb: _extension_file(bomb),
    "one bit": lambda content, _: _flip_one_bit(content),
    "longer": lambda content, _: content + b"\0",
}


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("file", ["transitions.parquet", "scale_test.parsed.json"])
def test_damaged_cache_is_rebuilt(counting: Counting, tmp_path: Path, file: str, damage: str) -> None:
    path = counting.folder / file
    before = path.read_bytes()
    with explosive_pickle(tmp_path / "exploded") as bomb:
        path.write_bytes(DAMAGES[damage](before, bomb))
        tables, findings = counting.load()
    assert counting.parsed == 2
    assert len(tables.transitions) == 20 * 9
    assert [(finding.where, finding.text) for finding in findings] == [
        (f"tables/tables/{file}", "damaged and parsed again")
    ]
    assert path.read_bytes() == before
    assert counting.load()[1] == ()
    assert counting.parsed == 2


def test_table_of_another_recording_is_rebuilt(counting: Counting) -> None:
    shutil.copy(counting.folder / "nodes.parquet", counting.folder / "transitions.parquet")
    tables, findings = counting.load()
    assert (counting.parsed, len(tables.transitions)) == (2, 20 * 9)
    assert [finding.text for finding in findings] == ["damaged and parsed again"]


def test_forged_document_cannot_load_a_forged_table(counting: Counting, tmp_path: Path) -> None:
    """Even with write access to the tables' hash, no code can be executed."""
    with explosive_pickle(tmp_path / "exploded") as bomb:
        content = _extension_file(bomb)
        (counting.folder / "transitions.parquet").write_bytes(content)
        path = counting.folder / "scale_test.parsed.json"
        document = json.loads(path.read_text())
        document["tables"]["transitions"] = content_hash(content)
        del document["hash"]
        path.write_text(json.dumps({**document, "hash": own_hash(document)}))
        tables, findings = counting.load()
    assert (counting.parsed, len(tables.transitions)) == (2, 20 * 9)
    assert [finding.text for finding in findings] == ["damaged and parsed again"]


def test_findings_of_the_parser_are_repeated_from_the_cache(counting: Counting) -> None:
    path = counting.place.directory / "events.jsonl"
    path.write_text(path.read_text()[:-10])
    first, second = counting.load()[1], counting.load()[1]
    assert ["truncated" in finding.text for finding in first] == [True]
    assert (second, counting.parsed) == (first, 2)


def test_file_changed_during_reading_is_read_again(counting: Counting) -> None:
    """Otherwise values of the new contents would be cached as those of the old, which may return."""
    path = counting.place.directory / "submissions.jsonl"
    old = path.read_text()
    path.write_text(old.replace('"attempts":1', '"attempts":2', 1))
    counting.meanwhile = lambda: path.write_text(old)
    counting.load()
    counting.meanwhile = int
    tables, _ = counting.load()
    assert counting.parsed == 3
    assert (tables.submissions["attempts"] == 2).sum() == 0


def test_concurrent_reports_share_tables(counting: Counting) -> None:
    """Two processes that write the same files never read partial ones."""
    shutil.rmtree(counting.folder)
    results: list[tuple[int, int]] = []

    def load() -> None:
        for _ in range(5):
            (counting.folder / "scale_test.parsed.json").unlink(missing_ok=True)
            tables, findings = counting.load()
            results.append((len(tables.transitions), len([one for one in findings if one.severity == "error"])))

    threads = [threading.Thread(target=load) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [(20 * 9, 0)] * 20
    assert not list(counting.folder.glob(".*"))


def test_parquet_files_have_units_and_help(counting: Counting) -> None:
    schema = parquet.read_schema(counting.folder / "submissions.parquet")
    assert schema.field("gpus").metadata == {b"help": b"GPUs requested by all its pods", b"unit": b"GPUs"}
    assert schema.metadata[b"psap.perf.help"] == b"One row per submitted workload, as the submitter saw it"


def test_cache_document_follows_its_schema(counting: Counting) -> None:
    assert check_file(counting.folder / "scale_test.parsed.json") == "psap.perf/tables/1"


def test_file_of_only_some_recordings_is_tracked(counting: Counting) -> None:
    tables, findings = counting.load()
    assert (len(tables.churn), len(tables.control_plane), findings) == (0, 0, ())
    assert counting.parsed == 1
    row = {"round": 1, "index": 0, "namespace": "ns", "name": "a", "sent_s": 1.0, "outcome": "deleted"}
    (counting.place.directory / "churn.jsonl").write_text(json.dumps(row) + "\n")
    tables, findings = counting.load()
    assert (len(tables.churn), findings, counting.parsed) == (1, (), 2)
    counting.load()
    assert counting.parsed == 2


# -- the matrix: a run of several recordings of several kinds, one of which is changed

SCALE, SECOND, FIRST = "000__scale/artifacts", "002__second/artifacts", "001__first/artifacts"


class Matrix:
    """A run of a scale test and two recordings of a declared kind, all parsed."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory / "run"
        self.output = directory / "out"
        self.kind = directory / "kind"
        shutil.copytree(DOWNLOADS, self.kind)
        write_recording(self.directory / SCALE, Shape(workloads=5, nodes=1, duration=1.0), "run")
        write_downloads(self.directory / FIRST, 1)
        write_downloads(self.directory / SECOND, 2)

    def parsed(self) -> list[str]:
        """Return the recordings that were parsed this time."""
        recordings, _ = parse_run(self.directory, self.output, shipped().with_folders([self.kind]))
        return [recording.place.relative for recording in recordings if recording.parsed]

    def tables(self, output: Path) -> list[list[object]]:
        """Return the loaded tables of the second recording."""
        place = Place(self.directory / SECOND, SECOND, "downloads.json", None)
        kind = shipped().with_folders([self.kind]).of(place.marker)
        tables, _ = load_tables(kind, RecordingFiles(place), tables_folder(output, place))
        return [getattr(tables, name).astype("object").to_numpy().tolist() for name in specs_of(kind.tables)]


@pytest.fixture
def matrix(tmp_path: Path) -> Matrix:
    made = Matrix(tmp_path)
    assert made.parsed() == [SCALE, FIRST, SECOND]
    assert made.parsed() == []
    return made


def _flip(path: Path) -> None:
    content = path.read_bytes()
    place = content.index(b"size_bytes") + 14
    path.write_bytes(content[:place] + (b"7" if content[place : place + 1] != b"7" else b"8") + content[place + 1 :])


CHANGES: dict[str, Callable[[Path], object]] = {
    "a byte": lambda folder: _flip(folder / "clients/c1.jsonl"),
    "an added file": lambda folder: shutil.copy(folder / "clients/c1.jsonl", folder / "clients/c9.jsonl"),
    "a deleted file": lambda folder: (folder / "clients/c1.jsonl").unlink(),
    "a renamed file": lambda folder: (folder / "clients/c1.jsonl").rename(folder / "clients/c7.jsonl"),
    "two files that change names": lambda folder: _swap(folder / "clients/c0.jsonl", folder / "clients/c1.jsonl"),
    "an emptied file": lambda folder: (folder / "clients/c1.jsonl").write_bytes(b""),
    "the marker": lambda folder: (folder / "downloads.json").write_text('{"servers": []}'),
    "a directory in its place": lambda folder: _directory(folder / "clients/c1.jsonl"),
}


def _swap(one: Path, other: Path) -> None:
    first, second = one.read_bytes(), other.read_bytes()
    one.write_bytes(second)
    other.write_bytes(first)


def _directory(path: Path) -> None:
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize("change", CHANGES)
def test_change_invalidates_its_recording_only(matrix: Matrix, tmp_path: Path, change: str) -> None:
    CHANGES[change](matrix.directory / SECOND)
    assert matrix.parsed() == [SECOND]
    assert matrix.parsed() == []
    assert repr(matrix.tables(matrix.output)) == repr(matrix.tables(tmp_path / "empty"))


def test_touching_a_file_keeps_the_cache(matrix: Matrix) -> None:
    for path in matrix.directory.rglob("*"):
        os.utime(path, (1, 1))
    assert matrix.parsed() == []


def test_unread_file_does_not_affect_the_cache(matrix: Matrix) -> None:
    (matrix.directory / SECOND / "notes.txt").write_text("nothing")
    assert matrix.parsed() == []


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("workload.yml", "version: 1", "version: 2"),
        ("parser.py", "took = end - start", "took = 2 * (end - start)"),
        ("workload.yml", "{name: size_bytes, kind: integer", "{name: size_bytes, kind: number"),
    ],
)
def test_other_parser_invalidates_its_kind_only(matrix: Matrix, tmp_path: Path, file: str, old: str, new: str) -> None:
    path = matrix.kind / file
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    assert matrix.parsed() == [FIRST, SECOND]
    assert matrix.parsed() == []
    assert repr(matrix.tables(matrix.output)) == repr(matrix.tables(tmp_path / "empty"))


def test_moved_run_keeps_its_tables(matrix: Matrix) -> None:
    matrix.directory = matrix.directory.rename(matrix.directory.parent / "elsewhere")
    assert matrix.parsed() == []


# -- a parser reads only the files that it declares


def _reading(name: str) -> Callable[[RecordingFiles], Any]:
    def parse(source: RecordingFiles) -> Any:
        WAYS[name](source)
        return WORKLOAD.parse(source)

    return parse


WAYS: dict[str, Callable[[RecordingFiles], object]] = {
    "by the source": lambda source: source.text("run.log"),
    "a pattern": lambda source: source.names("*.log"),
}


@pytest.mark.parametrize("way", WAYS)
def test_reading_an_undeclared_file_is_an_error(tmp_path: Path, way: str) -> None:
    directory = tmp_path / "artifacts"
    write_recording(directory, Shape(workloads=5, nodes=1, duration=1.0), "run")
    (directory / "run.log").write_text("a secret dependency")
    workload = replace(WORKLOAD, parse=_reading(way))
    place = Place(directory, "artifacts", "recording.json", None)
    with pytest.raises(
        UsageError, match=r"artifacts/.*the parser reads this file but declares only .*add it to the declared files"
    ):
        load_tables(workload, RecordingFiles(place), tmp_path / "tables")
    assert not Cache(workload, place, tmp_path / "tables").path.exists()
    assert (directory / "run.log").read_text() == "a secret dependency"
