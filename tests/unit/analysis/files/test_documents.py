"""Documents that are missing, damaged or of another kind are reported, not raised."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from perfanalysis.errors import UsageError
from perfanalysis.files.documents import parse_time, read_document, refuse_links, write_json


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (None, "the file is missing"),
        ("{", "the file cannot be read"),
        ("[]", "the file does not contain a mapping"),
        ("{}", "its schema is None, not psap.perf/run/1"),
        ('{"schema": "psap.perf/cell/1"}', "expected a run document, found a cell document"),
        ('{"schema": "psap.perf/run/2"}', "its major version is 2; this perfanalysis reads up to 1"),
    ],
)
def test_unreadable_document_has_a_reason(tmp_path: Path, content: str | None, reason: str) -> None:
    path = tmp_path / "run.json"
    if content is not None:
        path.write_text(content)
    document, findings = read_document(path, "run", "run.json")
    assert document is None
    assert reason in findings[0].text


def test_unknown_keys_and_older_major_versions_are_accepted(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.write_text('{"schema": "psap.perf/run/0", "new": 1}')
    assert read_document(path, "run", "run.json") == ({"schema": "psap.perf/run/0", "new": 1}, ())


def test_broken_yaml_is_a_finding(tmp_path: Path) -> None:
    path = tmp_path / "settings.yml"
    path.write_text("schema: [psap")
    document, findings = read_document(path, "settings", "settings.yml")
    assert document is None
    assert "cannot be read" in findings[0].text


def test_documents_are_written_atomically(tmp_path: Path) -> None:
    write_json(tmp_path / "a" / "kpis.json", {"value": None, "text": "µ"})
    assert json.loads((tmp_path / "a" / "kpis.json").read_text()) == {"value": None, "text": "µ"}
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["kpis.json"]


def test_leftover_of_a_killed_writer_is_overwritten(tmp_path: Path) -> None:
    # Written by a process that is killed before it renames the file
    dying = (
        "import os, pathlib, signal; from perfanalysis.files.documents import write_json; from pathlib import Path; "
    )
    dying += (
        "Path.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL); write_json(Path('x.json'), {'a': 'b' * 99})"
    )
    assert subprocess.run([sys.executable, "-c", dying], cwd=tmp_path, check=False).returncode == -signal.SIGKILL
    assert [path.stat().st_size > 99 for path in tmp_path.iterdir()] == [True]
    write_json(tmp_path / "x.json", {"a": 1})
    assert {path.name: json.loads(path.read_text()) for path in tmp_path.iterdir()} == {"x.json": {"a": 1}}


def test_ctrl_c_during_writing_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_words: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_json(tmp_path / "x.json", {"a": 1})
    assert list(tmp_path.iterdir()) == []


def test_concurrent_writers_leave_one_complete_document(tmp_path: Path) -> None:
    writing = "import sys; from pathlib import Path; from perfanalysis.files.documents import write_json\n"
    writing += "for _ in range(200): write_json(Path('x.json'), {'by': [int(sys.argv[1])] * 2000})"
    writers = [subprocess.Popen([sys.executable, "-c", writing, str(number)], cwd=tmp_path) for number in range(3)]
    while any(writer.poll() is None for writer in writers):
        if (tmp_path / "x.json").exists():
            assert len(set(json.loads((tmp_path / "x.json").read_text())["by"])) == 1
    assert [writer.returncode for writer in writers] == [0, 0, 0]
    assert [path.name for path in tmp_path.iterdir()] == ["x.json"]


def test_nan_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_json(tmp_path / "kpis.json", {"value": float("nan")})


@pytest.mark.parametrize(
    "text", ["2026-11-20T09:30:00.250Z", "2026-11-20T11:30:00.250+02:00", "2026-11-20T04:30:00.250-05:00"]
)
def test_times_of_all_zones_are_comparable(text: str) -> None:
    assert parse_time(text) == 1795167000.25


@pytest.mark.parametrize("text", [None, 5, "yesterday", "2026-11-20T09:30:00"])
def test_invalid_time_is_none(text: object) -> None:
    assert parse_time(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "a: &a [*a]",
        "a: &a {self: *a}",
        "a: !!timestamp x",
        "a: !!python/object/apply:os.getcwd []",
        "a: 2026-02-31",
        "[" * 50_000,
        "\n".join([f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" if n else "a0: &a0 [1, 2]" for n in range(9)]),
    ],
)
def test_yaml_that_is_not_plain_data_is_a_finding(tmp_path: Path, text: str) -> None:
    path = tmp_path / "settings.yml"
    path.write_text(f"schema: psap.perf/settings/1\n{text}\n")
    document, (finding,) = read_document(path, "settings", "settings.yml")
    assert document is None
    assert finding.text.startswith("the file cannot be read: ")
    assert "\n" not in finding.text


@pytest.mark.parametrize("text", ["a: " + "[" * 200_000, "a: " + "{a: " * 200_000, "- " * 200_000])
def test_deeply_nested_yaml_is_a_finding(tmp_path: Path, text: str) -> None:
    path = tmp_path / "settings.yml"
    path.write_text(text)
    document, findings = read_document(path, "settings", "settings.yml")
    assert document is None
    assert "nested more than 100 levels deep" in findings[0].text


def test_aliases_in_a_small_document_are_accepted(tmp_path: Path) -> None:
    path = tmp_path / "settings.yml"
    path.write_text("schema: psap.perf/settings/1\na: &a [1]\nb: [*a, *a]\n")
    document, findings = read_document(path, "settings", "settings.yml")
    assert (document and document["b"], findings) == ([[1], [1]], ())


def test_lone_surrogates_become_question_marks(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.write_text('{"schema": "psap.perf/run/1", "id": "a\\ud83d", "\\udc00": ["\\ud83d\\ude00"]}')
    document, _ = read_document(path, "run", "run.json")
    assert document == {"schema": "psap.perf/run/1", "id": "a?", "?": ["\U0001f600"]}


@pytest.mark.parametrize("link", ["report", "report/index.html", "report/.index.html.partial", "report/tables"])
def test_symbolic_links_in_a_report_are_refused(tmp_path: Path, link: str) -> None:
    run = tmp_path / "run"
    (run / link).parent.mkdir(parents=True)
    (run / link).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UsageError, match=f"{link} is a symbolic link; remove it or choose another --output"):
        refuse_links(run, run / "report")


def test_pipe_in_a_report_is_refused(tmp_path: Path) -> None:
    (tmp_path / "run/report").mkdir(parents=True)
    os.mkfifo(tmp_path / "run/report/kpis.json")
    with pytest.raises(UsageError, match=r"kpis\.json is no file"):
        refuse_links(tmp_path / "run", tmp_path / "run/report")


def test_report_folder_may_be_a_link(tmp_path: Path) -> None:
    (tmp_path / "pages").mkdir()
    (tmp_path / "mine").symlink_to(tmp_path / "pages")
    refuse_links(tmp_path / "run", tmp_path / "mine")


def test_document_is_not_written_through_a_link(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("mine")
    (tmp_path / ".x.json.partial").symlink_to(victim)
    with pytest.raises(OSError, match="symbolic links"):
        write_json(tmp_path / "x.json", {})
    assert victim.read_text() == "mine"
