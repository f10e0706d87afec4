from __future__ import annotations

import os
from pathlib import Path

import pytest
import yaml
from ansible_collections.psap.perf.plugins.module_utils.base import documents
from ansible_collections.psap.perf.plugins.module_utils.base.errors import PerfError


class _Tagged(str):
    """A subclass that no dumper supports, as Ansible's tagged strings are."""

    __slots__ = ()


def test_document_is_written_atomically(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    documents.write_json(path, {"schema": "psap.perf/run/1", "name": _Tagged("x")})
    assert documents.read_json(path) == {"schema": "psap.perf/run/1", "name": "x"}
    assert [entry.name for entry in tmp_path.iterdir()] == ["run.json"]


def test_failed_write_keeps_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    documents.write_text(path, "old")
    with pytest.raises(ZeroDivisionError), documents.replacing(path) as stream:
        stream.write("half")
        raise ZeroDivisionError
    assert path.read_text() == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["x.txt"]


def test_document_mode_follows_the_umask(tmp_path: Path) -> None:
    former = os.umask(0o077)
    try:
        documents.write_text(tmp_path / "x.txt", "new")
    finally:
        os.umask(former)
    assert (tmp_path / "x.txt").stat().st_mode & 0o777 == 0o600


def test_unwritable_folder_is_one_error(tmp_path: Path) -> None:
    with pytest.raises(PerfError, match=r"cannot write .*/missing/x\.json: No such file"):
        documents.write_json(tmp_path / "missing" / "x.json", {})


def test_yaml_keeps_order_and_accepts_tagged_values() -> None:
    text = documents.dump_yaml({"b": _Tagged("1"), "a": [1, True, None, 1.5, {"c": (1, 2)}]})
    assert yaml.safe_load(text) == {"b": "1", "a": [1, True, None, 1.5, {"c": [1, 2]}]}
    assert text.index("b:") < text.index("a:")


def test_yaml_shows_the_lines_of_a_file_in_a_configmap() -> None:
    text = documents.dump_yaml({"data": {"sharing.yml": "sharing:\n  replicas: 4\n"}})
    assert text == "data:\n  sharing.yml: |\n    sharing:\n      replicas: 4\n"


@pytest.mark.parametrize("value", ["a \n", "\n a\n", "a\n\n", "\ta\n b", "a\r\nb", "- a\n# b", "a\n...\n---\n"])
def test_yaml_keeps_every_multi_line_text(value: str) -> None:
    assert yaml.safe_load(documents.dump_yaml([value, {value: value}])) == [value, {value: value}]


_BOMB = "a: &a0 [1, 2, 3, 4, 5, 6, 7, 8, 9]\n" + "".join(
    f"b{level}: &a{level + 1} [{', '.join([f'*a{level}'] * 9)}]\n" for level in range(9)
)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[" * 200_000, "nested more than 100 levels"),
        ("a: " + "{a: " * 200_000, "nested more than 100 levels"),
        ("- " * 200_000, "nested more than 100 levels"),
        ("a: &a [*a]", "an alias includes itself"),
        (_BOMB, "more than 1000000 values"),
    ],
)
def test_untraversable_yaml_is_refused(tmp_path: Path, text: str, reason: str) -> None:
    path = tmp_path / "settings.yml"
    path.write_text(text)
    with pytest.raises(PerfError, match=reason):
        documents.read_yaml(path)


def test_document_beyond_64_mib_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    with path.open("wb") as stream:
        stream.truncate(1 << 40)
    with pytest.raises(PerfError, match="more than 64 MiB"):
        documents.read_json(path)


@pytest.mark.parametrize("content", ["[1, 2]", "{broken", "\x00"])
def test_invalid_document_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "x.json"
    path.write_text(content)
    with pytest.raises(PerfError, match=r"x\.json"):
        documents.read_json(path)
