"""Places, credentials, manifests, tags, pages and exported files, without a store."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import DataQualityError, PerfError, UsageError
from ansible_collections.psap.perf.plugins.module_utils.exporting.fetching import fetch
from ansible_collections.psap.perf.plugins.module_utils.exporting.index_page import Subject, index_page
from ansible_collections.psap.perf.plugins.module_utils.exporting.manifest import (
    ExportedFile,
    Manifest,
    parse_manifest,
)
from ansible_collections.psap.perf.plugins.module_utils.exporting.places import Access, Keys, Place
from ansible_collections.psap.perf.plugins.module_utils.exporting.run_export import refuse_leaks
from ansible_collections.psap.perf.plugins.module_utils.exporting.sending import files_of
from ansible_collections.psap.perf.plugins.module_utils.exporting.tags import object_tags

from tests.schemas import check

CONTENT = {"run.json": b"{}", "001__a/artifacts/x.txt": b"measured"}


def _manifest(files: dict[str, bytes]) -> Manifest:
    known = tuple(ExportedFile(path, len(text), hashlib.sha256(text).hexdigest()) for path, text in files.items())
    return Manifest("demo-1", "demo", "ok", "2026-01-01T00:00:00.000Z", None, known)


class _Source:
    """An export in memory."""

    def __init__(self, files: dict[str, bytes]) -> None:
        self.files = files
        self.asked: list[str] = []

    def read(self, path: str) -> bytes | None:
        return self.files.get(path)

    def get(self, path: str, target: Path) -> str | None:
        self.asked.append(path)
        if path not in self.files:
            return None
        target.write_bytes(self.files[path])
        return hashlib.sha256(self.files[path]).hexdigest()

    def holds_more(self) -> bool:
        return bool(self.files)

    def __str__(self) -> str:
        return "s3://bucket/demo-1"


@pytest.mark.parametrize(
    "text", ["s3://", "bucket/x", "s3://B/x", "s3://bucket/a/../b", "s3://bucket?x=1", "http://a/b"]
)
def test_invalid_place_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="write"):
        Place.parse(text)


def test_place_has_keys_below_it() -> None:
    place = Place.parse("s3://bucket//a/b/").below("c")
    assert (str(place), place.key("run.json"), place.name) == ("s3://bucket/a/b/c", "a/b/c/run.json", "c")
    assert Place.parse("s3://bucket").key("run.json") == "run.json"


@pytest.mark.parametrize(
    "text",
    [
        "[default]\naws_access_key_id = id\naws_secret_access_key = word\n",
        "aws_access_key_id=id\naws_secret_access_key=word",
        "[other]\naws_access_key_id = id\naws_secret_access_key = word\n",
    ],
)
def test_credentials_file_has_the_format_of_aws(text: str) -> None:
    keys = Keys.parse(text)
    assert (keys.identity, keys.secret, keys.token) == ("id", "word", None)
    assert "word" not in repr(keys)


@pytest.mark.parametrize("text", ["word", "[default]\naws_access_key_id = id\n", "{}", "[a]\n[b]\n"])
def test_other_credentials_are_refused_without_being_shown(text: str) -> None:
    with pytest.raises(UsageError, match="a credentials file of the AWS CLI") as refused:
        Keys.parse(f"{text}\nvery-secret-word")
    assert "very-secret-word" not in str(refused.value)


@pytest.mark.parametrize("endpoint", ["store.example.com", "https://user@store", "ftp://store"])
def test_invalid_endpoint_is_refused(endpoint: str) -> None:
    with pytest.raises(UsageError, match="is not an endpoint"):
        Access(endpoint).check()


@pytest.mark.parametrize(
    ("retention", "tags"), [("soon", {}), ("", {"a": "b<c"}), ("", {"": "x"}), ("1d", {str(n): "" for n in range(10)})]
)
def test_tags_that_a_store_refuses_are_refused(retention: str, tags: dict[str, str]) -> None:
    with pytest.raises(UsageError):
        object_tags(retention, tags)


def test_manifest_round_trips() -> None:
    manifest = _manifest(CONTENT)
    check(manifest.document())
    assert parse_manifest(manifest.content(), "here") == manifest


@pytest.mark.parametrize(
    "changes",
    [
        {"schema": "psap.perf/export/2"},
        {"files": [{"path": "../../etc/passwd", "size": 1, "sha256": ""}]},
        {"files": [{"path": "/etc/passwd", "size": 1, "sha256": ""}]},
        {"files": [{"path": "a\0b", "size": 1, "sha256": ""}]},
        {"files": [{"path": 5, "size": 1, "sha256": ""}]},
        {"files": None},
        {"name": ".."},
    ],
)
def test_manifest_with_paths_outside_is_refused(changes: dict[str, object]) -> None:
    document = {**_manifest(CONTENT).document(), **changes}
    with pytest.raises(DataQualityError):
        parse_manifest(json.dumps(document).encode(), "here")


def test_only_a_complete_export_is_fetched_and_each_file_once(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no export at"):
        fetch(_Source({}), tmp_path)
    with pytest.raises(DataQualityError, match="is incomplete"):
        fetch(_Source(CONTENT), tmp_path)
    source = _Source({**CONTENT, "manifest.json": _manifest(CONTENT).content()})
    assert fetch(source, tmp_path).fetched == 2
    assert fetch(source, tmp_path).fetched == 0
    # Existing files are verified too.
    (tmp_path / "demo-1" / "run.json").write_text("[]")
    assert fetch(source, tmp_path).fetched == 1
    assert (tmp_path / "demo-1" / "run.json").read_bytes() == b"{}"


@pytest.mark.parametrize("damaged", [b"measureD", None])
def test_damaged_file_is_not_kept(damaged: bytes | None, tmp_path: Path) -> None:
    files = {**CONTENT, "manifest.json": _manifest(CONTENT).content(), "001__a/artifacts/x.txt": damaged}
    source = _Source({path: text for path, text in files.items() if text is not None})
    with pytest.raises(DataQualityError, match=r"x\.txt"):
        fetch(source, tmp_path)
    assert not (tmp_path / "demo-1" / "001__a" / "artifacts" / "x.txt").exists()


def test_partial_and_outside_files_are_not_exported(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_text("x")
    run = tmp_path / "run"
    run.mkdir()
    for name in ("run.json", "run.lock", "stop", "reached", ".reserve", ".a.json.0123abcd.partial", "index.html"):
        (run / name).write_text("x")
    (run / "away").symlink_to(outside)
    (run / "here").symlink_to(run / "run.json")
    assert sorted(files_of(run)) == ["here", "run.json"]


def test_page_links_every_file_and_escapes_names() -> None:
    names = ["report/index.html", "002__b/x", "010__c/<b>&.txt", "001__a/FAILURE", "run.json"]
    subject = Subject("demo-1", "demo", "failed", {"began": "2026"}, "<script>alert(1)</script>")
    page = index_page(subject, [ExportedFile(name, 1500, "0" * 64) for name in names])
    assert "<script>alert" not in page
    assert 'href="010__c/%3Cb%3E%26.txt"' in page
    assert page.index("001__a/ ") < page.index("002__b/ ") < page.index("010__c/ ")
    assert all(f'href="{name}"' in page for name in names if "<" not in name)
    assert "1.5 kB" in page


def test_run_with_a_secret_is_not_exported(tmp_path: Path) -> None:
    (tmp_path / "log").write_text("one\ntold very-secret-word\n")
    with pytest.raises(PerfError, match="log:2"):
        refuse_leaks(tmp_path, ["very-secret-word"])
