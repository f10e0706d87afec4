"""JSON lines: truncated ends and foreign lines are counted, everything else is read."""

from __future__ import annotations

from pathlib import Path

import pytest
from perfanalysis.files.json_lines import read_json_lines
from perfanalysis.files.tables import Column, TableSpec

SPEC = TableSpec(
    "things",
    "things",
    (
        Column("seen_s", "time", "when"),
        Column("name", "text", "which"),
        Column("status", "integer", "status"),
        Column("good", "flag", "whether"),
    ),
)
LINE = '{"seen_s": 1.5, "name": "a", "status": 201, "good": true, "unknown": [1, {"x": 2}]}\n'


def read(tmp_path: Path, text: str) -> tuple[list[dict[str, object]], list[str]]:
    path = tmp_path / "things.jsonl"
    path.write_text(text)
    frame, findings = read_json_lines(path, SPEC, "things.jsonl")
    rows = frame.astype("object").where(frame.notna(), None).to_dict("records")
    return [{str(key): value for key, value in row.items()} for row in rows], [f.text for f in findings]


def test_unknown_keys_are_ignored_and_types_are_declared(tmp_path: Path) -> None:
    rows, findings = read(tmp_path, LINE)
    assert rows == [{"seen_s": 1.5, "name": "a", "status": 201, "good": True}]
    assert findings == []


def test_null_and_absent_values_are_missing(tmp_path: Path) -> None:
    rows, _ = read(tmp_path, '{"seen_s": null, "name": null}\n{"seen_s": 2, "name": "b", "status": 200}\n')
    assert rows[0] == {"seen_s": None, "name": None, "status": None, "good": None}
    assert rows[1]["seen_s"] == 2.0


def test_truncated_last_line_is_skipped_and_reported(tmp_path: Path) -> None:
    rows, findings = read(tmp_path, LINE + '{"seen_s": 2.5, "na')
    assert len(rows) == 1
    assert findings == ["the last line is truncated and was left out (1 line)"]


def test_complete_last_line_without_newline_counts(tmp_path: Path) -> None:
    rows, findings = read(tmp_path, LINE + LINE.rstrip("\n"))
    assert len(rows) == 2
    assert findings == []


@pytest.mark.parametrize("bad", ["not json", "[1, 2]", '{"seen_s": "noon"}', '{"status": 1.5}', "\x00\x00\x00"])
def test_foreign_line_is_counted_and_the_rest_is_read(tmp_path: Path, bad: str) -> None:
    rows, findings = read(tmp_path, LINE + bad + "\n" + LINE)
    assert len(rows) == 2
    assert findings == ["1 lines are not JSON objects of the declared types and were left out"]


def test_line_that_is_not_utf_8_is_counted(tmp_path: Path) -> None:
    path = tmp_path / "things.jsonl"
    path.write_bytes(LINE.encode() + b'{"seen_s": 1.0, "name": "caf\xe9"}\n')
    frame, findings = read_json_lines(path, SPEC, "things.jsonl")
    assert len(frame) == 1
    assert findings[0].text == "1 lines are not JSON objects of the declared types and were left out"


def test_missing_and_empty_files_yield_empty_tables(tmp_path: Path) -> None:
    frame, findings = read_json_lines(tmp_path / "none.jsonl", SPEC, "none.jsonl")
    assert len(frame) == 0
    assert [finding.text for finding in findings] == ["the file is missing"]
    assert read(tmp_path, "") == ([], [])


@pytest.mark.parametrize("block", [7, 16, 64, 1 << 20])
def test_line_may_be_longer_than_a_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int) -> None:
    monkeypatch.setattr("perfanalysis.files.bounded.BLOCK_BYTES", block)
    lines = [f'{{"seen_s": {number}, "name": "{"n" * number}", "status": {number}}}\n' for number in range(40)]
    rows, findings = read(tmp_path, "".join(lines) + '{"seen_s": 40, "name": "torn')
    assert [row["status"] for row in rows] == list(range(40))
    assert [row["name"] for row in rows] == ["n" * number for number in range(40)]
    assert len(findings) == 1
    rows, findings = read(tmp_path, "".join(lines).rstrip("\n"))
    assert (len(rows), findings) == (40, [])


def test_file_of_several_blocks_keeps_its_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("perfanalysis.files.bounded.BLOCK_BYTES", 4096)
    lines = [f'{{"seen_s": {number}, "name": "n{number % 7}", "status": {number}}}\n' for number in range(2000)]
    rows, _ = read(tmp_path, "".join(lines))
    assert [row["status"] for row in rows] == list(range(2000))
    assert rows[1234]["name"] == f"n{1234 % 7}"


LABELLED = TableSpec(
    "samples",
    "samples",
    (
        Column("value", "number", "what"),
        Column("verb", "text", "kind of request", inside="labels"),
        Column("le", "text", "bound", inside="labels"),
    ),
)


@pytest.mark.parametrize("bad", ["", '{"value": "many", "labels": {}}\n'])
def test_mapping_members_become_columns(tmp_path: Path, bad: str) -> None:
    """Applies to both readers: one of a complete file, and one that counts invalid lines."""
    path = tmp_path / "samples.jsonl"
    lines = ['{"value": 1, "labels": {"verb": "GET", "le": "0.5", "group": "apps"}}', '{"value": 2, "labels": {}}']
    path.write_text("\n".join([*lines, '{"value": 3}', '{"value": 4, "labels": {"verb": "PUT"}}', bad]))
    frame, findings = read_json_lines(path, LABELLED, "samples.jsonl")
    rows = frame.astype("object").where(frame.notna(), None).to_numpy().tolist()
    assert rows == [[1.0, "GET", "0.5"], [2.0, None, None], [3.0, None, None], [4.0, "PUT", None]]
    assert len(findings) == bool(bad)


@pytest.mark.parametrize("value", ["1e999", "-1e999", "Infinity", "9" * 400, "true", '"1"', "[1]"])
def test_non_finite_numbers_are_counted(tmp_path: Path, value: str) -> None:
    rows, findings = read(tmp_path, LINE + f'{{"seen_s": {value}, "name": "b"}}\n')
    assert [row["name"] for row in rows] == ["a"]
    assert findings == ["1 lines are not JSON objects of the declared types and were left out"]


@pytest.mark.parametrize("value", ["9223372036854775808", "-9223372036854775809", "1.5", "1e3"])
def test_integers_beyond_64_bits_are_counted(tmp_path: Path, value: str) -> None:
    rows, findings = read(tmp_path, LINE + f'{{"seen_s": 1, "name": "b", "status": {value}}}\n')
    assert [row["name"] for row in rows] == ["a"]
    assert findings == ["1 lines are not JSON objects of the declared types and were left out"]


@pytest.mark.parametrize("line", ["[" * 100_000, '{"name": ' * 100_000])
def test_deeply_nested_lines_are_counted(tmp_path: Path, line: str) -> None:
    rows, findings = read(tmp_path, f"{line}\n{LINE}")
    assert [row["name"] for row in rows] == ["a"]
    assert findings == ["1 lines are not JSON objects of the declared types and were left out"]


def test_lone_surrogates_do_not_enter_a_table(tmp_path: Path) -> None:
    rows, findings = read(tmp_path, '{"seen_s": 1, "name": "\\ud800x"}\n')
    assert (rows[0]["name"], findings) == ("?x", [])
