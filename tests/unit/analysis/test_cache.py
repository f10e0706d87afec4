"""The cache: made of contents, not of times; damaged files are made anew; nothing is ever unpickled."""

from __future__ import annotations

import json
import os
import pickle
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as parquet
import pytest
from perfanalysis.cache import load_tables
from perfanalysis.discover import Place
from perfanalysis.findings import Finding
from perfanalysis.scale_test.declaration import WORKLOAD
from perfanalysis.scale_test.tables import ScaleTestTables
from perfanalysis.source import Source

from tests.data.synthetic_runs import Shape, write_recording


class Counting:
    """Loads tables and counts how often they were parsed."""

    def __init__(self, tmp_path: Path) -> None:
        self.place = Place(tmp_path / "artifacts", "artifacts", "recording.json", None)
        self.folder = tmp_path / "tables"
        self.parsed = 0
        self.version = 1

    def _parse(self, source: Source) -> ScaleTestTables:
        self.parsed += 1
        return WORKLOAD.parse(source)

    def load(self) -> tuple[ScaleTestTables, tuple[Finding, ...]]:
        workload = replace(WORKLOAD, parse=self._parse, version=self.version)
        return load_tables(workload, Source(self.place), self.folder)


@pytest.fixture
def counting(tmp_path: Path) -> Counting:
    write_recording(tmp_path / "artifacts", Shape(workloads=20, nodes=2, duration=1.0), "run")
    loader = Counting(tmp_path)
    loader.load()
    return loader


def test_stored_tables_equal_parsed_ones(counting: Counting) -> None:
    stored, _ = counting.load()
    parsed = WORKLOAD.parse(Source(counting.place))
    assert counting.parsed == 1
    for name in ("submissions", "transitions", "events", "nodes"):
        first, second = getattr(stored, name), getattr(parsed, name)
        assert first.dtypes.astype(str).tolist() == second.dtypes.astype(str).tolist()
        assert first.astype("object").equals(second.astype("object"))


def test_touching_is_no_change(counting: Counting) -> None:
    os.utime(counting.place.directory / "transitions.jsonl", (1, 1))
    counting.load()
    assert counting.parsed == 1


def test_one_byte_is_a_change(counting: Counting) -> None:
    path = counting.place.directory / "submissions.jsonl"
    path.write_text(path.read_text().replace('"attempts":1', '"attempts":2', 1))
    tables, _ = counting.load()
    assert counting.parsed == 2
    assert (tables.submissions["attempts"] == 2).sum() == 1


def test_a_new_parser_version_parses_again(counting: Counting) -> None:
    counting.version = 2
    counting.load()
    assert counting.parsed == 2


def test_a_removed_file_is_a_change(counting: Counting) -> None:
    (counting.place.directory / "events.jsonl").unlink()
    _, findings = counting.load()
    assert counting.parsed == 2
    assert [finding.text for finding in findings] == ["the file is missing"]


class Bomb:
    """Writes a file when unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return (Path.touch, (self.path,))


@pytest.mark.parametrize("kind", ["truncated", "random", "pickle", "foreign"])
def test_damaged_tables_are_made_anew(counting: Counting, tmp_path: Path, kind: str) -> None:
    path = counting.folder / "transitions.parquet"
    content = {
        "truncated": path.read_bytes()[:200],
        "random": bytes(range(256)) * 4,
        "pickle": pickle.dumps(Bomb(tmp_path / "exploded")),
        "foreign": (counting.folder / "nodes.parquet").read_bytes(),
    }[kind]
    path.write_bytes(content)
    tables, findings = counting.load()
    assert counting.parsed == 2
    assert len(tables.transitions) == 20 * 9
    assert not (tmp_path / "exploded").exists()
    assert [finding.text for finding in findings] == ["damaged; it was made anew"]


def test_damaged_recordings_say_so_every_time(counting: Counting) -> None:
    path = counting.place.directory / "events.jsonl"
    path.write_text(path.read_text()[:-10])
    for _ in range(2):
        _, findings = counting.load()
        assert ["torn" in finding.text for finding in findings] == [True]


def test_parquet_files_carry_units_and_help(counting: Counting) -> None:
    schema = parquet.read_schema(counting.folder / "submissions.parquet")
    assert schema.field("gpus").metadata == {b"help": b"GPUs asked for by all its pods", b"unit": b"GPUs"}
    assert schema.metadata[b"psap.perf.help"] == b"One row per submitted workload, as the submitter saw it"


def test_files_that_only_some_recordings_have(counting: Counting) -> None:
    tables, findings = counting.load()
    assert (len(tables.churn), len(tables.control_plane), findings) == (0, 0, ())
    assert counting.parsed == 1
    row = {"round": 1, "index": 0, "namespace": "ns", "name": "a", "sent_s": 1.0, "outcome": "deleted"}
    (counting.place.directory / "churn.jsonl").write_text(json.dumps(row) + "\n")
    tables, findings = counting.load()
    assert (len(tables.churn), findings, counting.parsed) == (1, (), 2)
    counting.load()
    assert counting.parsed == 2
