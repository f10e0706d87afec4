"""Archives of images that users load into a real node."""

from __future__ import annotations

import gzip
import io
import json
import tarfile
from pathlib import Path
from typing import Any

import pytest
from perflab.errors import UsageError
from perflab.processes.state import Lab, Options
from perflab.worker import archives, images
from perflab.worker.images import Image


def archive(path: Path, **files: Any) -> Path:
    with tarfile.open(path, "w") as opened:
        for name, value in files.items():
            data = json.dumps(value).encode()
            entry = tarfile.TarInfo(f"{name}.json")
            entry.size = len(data)
            opened.addfile(entry, io.BytesIO(data))
    return path


def annotated(**names: str) -> dict[str, Any]:
    keys = {"image": "io.containerd.image.name", "ref": "org.opencontainers.image.ref.name"}
    return {"annotations": {keys[key]: name for key, name in names.items()}}


def test_names_of_an_image_that_the_lab_writes(tmp_path: Path) -> None:
    path = tmp_path / "tool.tar"
    with path.open("wb") as file:
        images.write(Image("localhost/perflab/tool:1"), file)
    assert archives.names(path) == ["localhost/perflab/tool:1"]


@pytest.mark.parametrize(
    ("files", "names"),
    [
        ({"index": {"manifests": [annotated(image="docker.io/library/a:1", ref="1")]}}, ["docker.io/library/a:1"]),
        ({"index": {"manifests": [annotated(ref="localhost/a:1"), {}]}}, ["localhost/a:1"]),
        ({"manifest": [{"RepoTags": ["a:1", "b:2"]}, {"RepoTags": None}]}, ["a:1", "b:2"]),
        # Docker 25 and later write both
        ({"index": {"manifests": [annotated(image="a:1")]}, "manifest": [{"RepoTags": ["a:1"]}]}, ["a:1"]),
    ],
)
def test_names_of_images_that_other_programs_write(files: dict[str, Any], names: list[str], tmp_path: Path) -> None:
    assert archives.names(archive(tmp_path / "a.tar", **files)) == names


def test_archive_without_names_is_refused(tmp_path: Path) -> None:
    for files in ({"index": {"manifests": [annotated(ref="1")]}}, {"manifest": [{"RepoTags": None}]}):
        with pytest.raises(UsageError, match="has a name: save it by its name"):
            archives.names(archive(tmp_path / "a.tar", **files))


def test_names_of_a_compressed_archive(tmp_path: Path) -> None:
    compressed = tmp_path / "a.tar.gz"
    plain = archive(tmp_path / "a.tar", manifest=[{"RepoTags": ["a:1"]}])
    compressed.write_bytes(gzip.compress(plain.read_bytes()))
    assert archives.names(compressed) == ["a:1"]


def test_other_file_is_refused_in_one_sentence(tmp_path: Path) -> None:
    other = archive(tmp_path / "a.tar", data=[])
    with pytest.raises(UsageError, match="of an image archive: write one with"):
        archives.names(other)
    cut, damaged, text = tmp_path / "a.tar.gz", tmp_path / "b.tar.gz", tmp_path / "Dockerfile"
    compressed = gzip.compress(other.read_bytes())
    cut.write_bytes(compressed[:40])
    damaged.write_bytes(compressed[:10] + bytes(30) + compressed[40:])
    text.write_text("FROM scratch")
    for each in (cut, damaged, text):
        with pytest.raises(UsageError, match=f"{each} is not a complete image archive"):
            archives.names(each)


def test_lab_without_a_real_node_has_no_images(tmp_path: Path) -> None:
    with pytest.raises(
        UsageError, match="the lab 'one' has no real node: create a lab with `perflab up --with worker`"
    ):
        archives.with_real_node(Lab(tmp_path / "one", Options()))
