"""Long lists of a document, read block by block: any strings, any block ends."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from perfanalysis.files import long_lists
from perfanalysis.files.long_lists import LongLists


def text(chance: random.Random) -> str:
    return "".join(chance.choices('"\\{}[],: aé\n', k=chance.randrange(10)))


def mapping(chance: random.Random, depth: int = 2) -> dict[str, Any]:
    values: list[Any] = [text(chance), chance.randrange(99), None]
    if depth:
        values += [mapping(chance, depth - 1), [mapping(chance, depth - 1), text(chance)], []]
    return {text(chance): chance.choice(values) for _ in range(chance.randrange(4))}


def read(path: Path, depth: int = 2) -> tuple[dict[int, list[Any]], Any]:
    lists = LongLists(path, frozenset({"results", "more"}), depth)
    found: dict[int, list[Any]] = {}
    for number, text in lists.objects():
        found.setdefault(number, []).extend(json.loads(text))
    return found, lists.document


@pytest.mark.parametrize("block", [1, 7, 40, 4096])
def test_any_document_round_trips_with_any_block_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int
) -> None:
    monkeypatch.setattr(long_lists, "BLOCK_BYTES", block)
    chance = random.Random(block)
    for number in range(60):
        first, second = ([mapping(chance) for _ in range(chance.randrange(5))] for _ in range(2))
        other = mapping(chance)
        document = {"before": other, "results": first, "config": {"results": [[other]], "x": other}, "more": second}
        (tmp_path / "d.json").write_text(json.dumps(document, indent=number % 3 or None))
        found, rest = read(tmp_path / "d.json")
        assert [found.get(0, []), found.get(1, [])] == [first, second]
        assert rest == document | {"results": [0], "more": [1]}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"results": [{"a": 1}, {"a"', "it is truncated"),
        ('{"results": [{"a": 1}', "it is truncated"),
        ('{"results": [{"a": "', "it is truncated"),
        ('{"results": [1, 2]}', "not objects"),
        ("", "Expecting value"),
        ("{} trailing", "Extra data"),
    ],
)
def test_damage_is_one_error(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "d.json").write_text(text)
    with pytest.raises(ValueError, match=message):
        read(tmp_path / "d.json")


def test_value_larger_than_memory_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(long_lists, "BLOCK_BYTES", 64)
    monkeypatch.setattr(long_lists, "MOST_PENDING", 1 << 10)
    (tmp_path / "d.json").write_text(json.dumps({"results": [{"text": "x" * (2 << 10)}]}))
    with pytest.raises(ValueError, match="a single value"):
        read(tmp_path / "d.json")
