"""Plots of local and remote runs, and errors of unreachable ones."""

from __future__ import annotations

import hashlib
import sys
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.documents import read_json
from ansible_collections.psap.perf.plugins.module_utils.exporting.manifest import FILE, INDEX, ExportedFile, Manifest
from ansible_collections.psap.perf.plugins.module_utils.exporting.run_export import ExportSettings
from perfanalysis.reports.writing import ReportPaths
from perfci.exporting import replots
from perfci.exporting.replots import replot, sources_in
from perfci.exporting.runs import settings_of, value_of
from perfci.exporting.web import WebSource
from perfci.jobs.run_log import copy_output
from perfdrv.errors import DriverError, UsageError

from tests.data.synthetic_runs import Shape, write_run

SHAPE = Shape(workloads=20, nodes=2, duration=1.0)


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_arguments: object) -> None:
        """Log no requests."""

    def do_GET(self) -> None:
        """Serve a file below the folder; `broken` is a server error."""
        if self.path.endswith("/broken"):
            self.send_error(500)
        else:
            super().do_GET()


@pytest.fixture
def served_folder(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """Return the URL of a served folder, and the folder."""
    folder = tmp_path / "bucket"
    folder.mkdir()
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}", folder
    server.shutdown()
    thread.join()
    server.server_close()


def write_export(folder: Path) -> Path:
    """Return a run's directory in the layout of an export."""
    run = write_run(folder, [SHAPE])
    (run / INDEX).write_text("<title>a run</title>")
    files = [path for path in sorted(run.rglob("*")) if path.is_file()]
    known = [
        ExportedFile(
            path.relative_to(run).as_posix(), path.stat().st_size, hashlib.sha256(path.read_bytes()).hexdigest()
        )
        for path in files
    ]
    manifest = Manifest(run.name, "scale_test", "ok", "2026-11-20T09:40:00Z", "", tuple(known))
    (run / FILE).write_bytes(manifest.content())
    return run


@pytest.mark.slow
def test_remote_and_local_runs_are_compared_and_a_missing_one_fails_alone(
    served_folder: tuple[str, Path], tmp_path: Path
) -> None:
    url, folder = served_folder
    run = write_export(folder)
    here = write_run(tmp_path / "runs", [SHAPE], run="scale_test-20261121T093000Z-5f3a1d")
    messages: list[str] = []
    sources = [f"{url}/{run.name}/index.html", here.name, "scale_test-20261122T093000Z-5f3a1e"]
    done = replot(sources, tmp_path / "runs", ExportSettings.of({}), tmp_path / "cache", messages.append)
    assert [bool(each.report and each.report.is_file()) for each in done.plotted] == [True, True, False]
    assert done.exit_code == 2
    assert done.comparison and done.comparison.is_file()
    assert messages[2].startswith(f"{sources[2]}: ")
    document = read_json(done.directory / "plots.json")
    assert [each["run"] for each in document["runs"]] == [run.name, here.name, None]
    assert (tmp_path / "cache").is_dir()


def test_run_that_breaks_the_analysis_fails_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("scale_test-20261121T093000Z-5f3a1d", "scale_test-20261122T093000Z-5f3a1e")
    for name in names:
        (tmp_path / "runs" / name).mkdir(parents=True)
        (tmp_path / "runs" / name / "run.json").write_text("{}")

    def broken(run: Path, folder: Path) -> ReportPaths:
        if run.name == names[0]:
            raise RecursionError("too deep")
        return ReportPaths(folder / "index.html", folder, folder, folder, (), ())

    monkeypatch.setattr(replots, "make_report", broken)
    done = replot(names, tmp_path / "runs", ExportSettings.of({}), tmp_path / "cache", lambda _text: None)
    assert [each.why for each in done.plotted] == ["internal error: RecursionError: too deep", ""]
    assert done.exit_code == 70


def test_damaged_export_file_is_named(served_folder: tuple[str, Path], tmp_path: Path) -> None:
    url, folder = served_folder
    run = write_export(folder)
    (run / "settings.yml").write_text("damaged")
    done = replot([f"{url}/{run.name}"], tmp_path / "runs", ExportSettings.of({}), tmp_path / "cache", lambda _: None)
    assert "settings.yml" in str(done.plotted[0].error) and "is damaged" in str(done.plotted[0].error)
    assert done.exit_code == 5


def test_server_responses_are_explained(served_folder: tuple[str, Path], tmp_path: Path) -> None:
    url, folder = served_folder
    (folder / "file").write_text("content")
    source = WebSource.parse(f"{url}/")
    assert source.read("file") == b"content"
    assert source.get("file", tmp_path / "copy") == hashlib.sha256(b"content").hexdigest()
    assert (tmp_path / "copy").read_text() == "content"
    assert source.read("absent") is None and source.get("absent", tmp_path / "none") is None
    assert not source.holds_more()
    with pytest.raises(DriverError, match="500"):
        source.read("broken")


def test_refused_connection_is_explained(served_folder: tuple[str, Path]) -> None:
    del served_folder
    with pytest.raises(DriverError, match="cannot fetch"):
        WebSource.parse("http://127.0.0.1:9/export").read("file")


@pytest.mark.parametrize("text", ["ftp://host/export", "https:///export", "https://a@host/x", "https://host/x?y=z"])
def test_url_without_an_export_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="is not the URL of an export"):
        WebSource.parse(text)


def test_list_of_runs_has_one_per_line(tmp_path: Path) -> None:
    path = tmp_path / "list"
    path.write_text("# those of today\n\n  s3://a/b  \nhttps://host/c\n")
    assert sources_in(path) == ["s3://a/b", "https://host/c"]
    path.write_text("# none\n")
    with pytest.raises(UsageError, match="lists no run"):
        sources_in(path)
    with pytest.raises(UsageError, match="cannot read the list"):
        sources_in(tmp_path)


def test_export_settings_come_from_the_run_and_options(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no destination for .*: pass --to"):
        settings_of(tmp_path, {"to": None})
    assert settings_of(tmp_path, {"to": "s3://bucket/runs"})[0].to == "s3://bucket/runs"


def test_secret_readable_only_by_ansible_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKEN_OF_THE_TEST", "a token")
    assert value_of("env:TOKEN_OF_THE_TEST") == "a token"
    with pytest.raises(UsageError, match="only Ansible can read"):
        value_of("vault:token")


def test_job_log_has_the_printed_lines_without_secrets(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with copy_output(tmp_path / "run.log", lambda line: line.replace("hidden", "…")):
        print("first hidden")
        print("half", end="")
        assert (tmp_path / "run.log").read_text() == "first …\n"
        print("an error", file=sys.stderr)
        assert isinstance(sys.stdout.fileno, object)
    assert (tmp_path / "run.log").read_text().splitlines() == ["first …", "an error", "half"]
    assert capsys.readouterr().out == "first hidden\nhalf\n"


def test_log_on_a_full_disk_does_not_affect_the_output(capsys: pytest.CaptureFixture[str]) -> None:
    with copy_output(Path("/dev/full")):
        print("printed")
    assert capsys.readouterr().out == "printed\n"
