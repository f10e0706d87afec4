"""A history in a real S3 server: pushed once, pulled scrubbed, and damage is left out."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from ansible_collections.psap.perf.plugins.module_utils.exporting.places import Place
from ansible_collections.psap.perf.plugins.module_utils.exporting.store import ObjectOptions
from perfci.judging.sources import StoreSource

from tests.standins.s3_server import IDENTITY, SECRET, S3Server, s3_server
from tests.unit.analysis.histories import document, kpi

BUCKET = "history"
DAYS = 30


@pytest.fixture(name="server")
def _server(tmp_path: Path) -> Iterator[S3Server]:
    with s3_server(tmp_path) as server:
        yield server


def test_history_in_s3_is_pushed_once_and_pulled(server: S3Server, tmp_path: Path) -> None:
    with server.bucket(BUCKET) as store:
        source = StoreSource(server.access, Place.parse(f"s3://{BUCKET}/nightly"), tmp_path / "cache")
        assert source.pull("scale_test").documents == ()
        documents = [source.shown(document(day, [kpi("wait", 1.0 + day)])) for day in range(DAYS)]
        assert [source.push(each) for each in documents] == [True] * DAYS
        assert not source.push(documents[0])
        assert source.push(source.shown(document(1, [kpi("wait", 1.0)], flow="kserve")))

        pulled = source.pull("scale_test")
        assert [each["run"] for each in pulled.documents] == [f"run-{day:03d}" for day in range(DAYS)]
        assert pulled.findings == ()
        # the name of the site is not for others
        assert "site" not in pulled.documents[0]["facts"]

        assert source.flows() == ["kserve", "scale_test"]
        done = subprocess.run(
            ["perfdrv", "history", "site", f"s3://{BUCKET}/nightly", "--to", str(tmp_path / "site")],
            env={
                **os.environ,
                "AWS_ACCESS_KEY_ID": IDENTITY,
                "AWS_SECRET_ACCESS_KEY": SECRET,
                "PERF_EXPORT_ENDPOINT": server.endpoint,
                "XDG_CACHE_HOME": str(tmp_path / "cache"),
            },
            capture_output=True,
            text=True,
            check=True,
        )
        assert "page    " in done.stdout
        page = (tmp_path / "site" / "history.html").read_text()
        assert "run-029" in page
        assert "kserve" in page

        # another program's object, and one with other content than its name says
        store.put("nightly/scale_test/readme.txt", b"hello", ObjectOptions())
        store.put(f"nightly/scale_test/{'0' * 32}.json", b"{}", ObjectOptions())
        again = source.pull("scale_test")
        assert len(again.documents) == DAYS
        assert [each.where for each in again.findings] == [f"{'0' * 32}.json"]
