"""Conversion of a folder to ConfigMaps."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.kube_api.folders import parts_of


def write(folder: Path, files: dict[str, bytes]) -> None:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)


def test_subfolders_and_contents_are_preserved(tmp_path: Path) -> None:
    files = {"index.html": b"<p>one", "data/deep/raw.bin": bytes(range(256)), "data/no ending": b""}
    write(tmp_path, files)
    (part,) = parts_of(tmp_path)
    assert {part.paths[key]: base64.b64decode(text) for key, text in part.content.items()} == files
    assert all("/" not in key for key in part.content)


def test_hidden_and_outside_files_are_not_served(tmp_path: Path) -> None:
    write(tmp_path, {"secret": b"no", "site/a": b"yes", "site/.token": b"no", "site/.git/config": b"no"})
    (tmp_path / "site/out").symlink_to("../secret")
    (tmp_path / "site/in").symlink_to("a")
    (part,) = parts_of(tmp_path / "site")
    assert sorted(part.paths.values()) == ["a", "in"]


def test_config_map_stays_within_the_limit_of_kubernetes(tmp_path: Path) -> None:
    write(tmp_path, {f"{number}": bytes(400_000) for number in range(5)} | {"large": bytes(1 << 20)})
    parts = parts_of(tmp_path)
    sizes = [sum(len(base64.b64decode(text)) for text in part.content.values()) for part in parts]
    assert max(sizes) <= 1 << 20
    assert sum(sizes) == 5 * 400_000 + (1 << 20)


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({}, "has no files to serve"),
        ({"large": bytes((1 << 20) + 1)}, "large has 1048577 bytes, and a ConfigMap holds 1048576"),
        ({f"{number:02}": bytes(1 << 20) for number in range(17)}, "needs 17 ConfigMaps of 1 MiB"),
    ],
)
def test_unservable_files_are_refused(tmp_path: Path, files: dict[str, bytes], message: str) -> None:
    write(tmp_path, files)
    with pytest.raises(UsageError, match=message):
        parts_of(tmp_path)


def test_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="nowhere is not a folder"):
        parts_of(tmp_path / "nowhere")
