"""The folder of a history: added runs stay, modified files are reported, exported ones are scrubbed."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner
from perfanalysis.__main__ import run
from perfanalysis.cli import cli
from perfanalysis.errors import UsageError
from perfanalysis.results.history.documents import entries_of
from perfanalysis.results.history.folder import add, load, merge, version_key

from tests.data.synthetic_runs import Shape, write_run
from tests.schemas import check
from tests.unit.analysis.histories import document, kpi

RUN = Path(__file__).resolve().parents[3] / "data" / "runs" / "v1" / "scale_test-20261120T093000Z-5f3a1c"


def history(folder: Path, *words: str) -> str:
    """Return the output of a successful command of the group."""
    done = CliRunner().invoke(cli, ["history", *words], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


def test_run_is_added_once(tmp_path: Path) -> None:
    folder = tmp_path / "history"
    assert history(folder, "add", str(RUN), "--into", str(folder)).startswith(f"added: {RUN.name} as ")
    assert history(folder, "add", str(RUN), "--into", str(folder)).startswith(f"already there: {RUN.name} as ")
    (path,) = folder.iterdir()
    added = json.loads(path.read_text())
    assert check(added) == "psap.perf/history/1"
    assert added["facts"]["cluster.version"] == "v1.34.1"
    names = [each["name"] for each in added["recordings"][0]["kpis"]]
    assert "completed_ratio" in names
    # A history does not contain KPIs without a value.
    assert all(each["value"] is not None for each in added["recordings"][0]["kpis"])
    assert f"{RUN.name}  1 recording, {len(names)} KPIs" in history(folder, "list", str(folder))
    assert json.loads(history(folder, "show", str(folder), "scale_test-2026")) == added


def test_document_name_ignores_key_order(tmp_path: Path) -> None:
    one = document(1, [kpi("a", 1.0)])
    assert add(tmp_path, one)[1] is True
    path, new = add(tmp_path, dict(reversed(one.items())))
    assert (new, len(list(tmp_path.iterdir()))) == (False, 1)
    assert json.loads(path.read_text()) == one


def test_runs_are_read_oldest_first_and_merge_adds_missing_ones(tmp_path: Path) -> None:
    for day in (3, 1):
        add(tmp_path / "a", document(day, [kpi("a", 1.0)]))
    for day in (2, 3):
        add(tmp_path / "b", document(day, [kpi("a", 1.0)]))
    assert merge(tmp_path / "b", tmp_path / "a") == 1
    assert merge(tmp_path / "b", tmp_path / "a") == 0
    assert [each["run"] for each in load(tmp_path / "a").documents] == ["run-001", "run-002", "run-003"]


def test_newest_analysis_of_a_run_counts(tmp_path: Path) -> None:
    for version in ("1.9.0", "1.10.0", "1.2.0"):
        add(tmp_path, document(1, [kpi("a", 1.0)], analysis=version))
    found = load(tmp_path)
    assert [each["analysis"] for each in found.documents] == ["1.10.0"]
    assert [finding.severity for finding in found.findings] == ["note", "note"]


def test_modified_truncated_or_foreign_file_is_skipped_and_reported(tmp_path: Path) -> None:
    changed, _ = add(tmp_path, document(1, [kpi("a", 1.0)]))
    changed.write_text(changed.read_text().replace('"value": 1.0', '"value": 0.5'))
    cut, _ = add(tmp_path, document(2, [kpi("a", 1.0)]))
    cut.write_bytes(cut.read_bytes()[:100])
    (tmp_path / f"{'0' * 32}.json").write_text('{"schema": "psap.perf/run/1", "run": "x"}')
    (tmp_path / "notes.txt").write_text("not looked at")
    found = load(tmp_path)
    assert found.documents == ()
    messages = {finding.where: finding.text for finding in found.findings}
    assert "was changed after it was written" in messages[changed.name]
    assert "cannot read the file" in messages[cut.name]
    assert "expected a history document, found a run document" in messages[f"{'0' * 32}.json"]


def test_folder_that_is_no_history_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is not a history"):
        load(tmp_path / "nowhere")
    done = CliRunner().invoke(cli, ["history", "show", str(tmp_path), "x"])
    assert isinstance(done.exception, UsageError)
    assert "has no run " in str(done.exception)
    assert "contains no run" in CliRunner().invoke(cli, ["history", "list", str(tmp_path)]).stderr


def test_versions_sort_numerically() -> None:
    ordered = [None, "2.1.0-rc.2", "2.1.0-rc.10", "2.1.0", "4.9-rc1", "4.9", "v4.9.1", "4.10", "9.0", "10.0"]
    shuffled = [*ordered[5:], *ordered[:5]]
    assert sorted(shuffled, key=version_key) == ordered


def test_copied_folder_is_a_history(tmp_path: Path) -> None:
    add(tmp_path / "a", document(1, [kpi("a", 1.0)]))
    shutil.copytree(tmp_path / "a", tmp_path / "b")
    assert load(tmp_path / "b") == load(tmp_path / "a")


def test_numbers_beyond_a_double_are_left_out() -> None:
    given = [kpi("a", 10**400), kpi("b", float("nan")), kpi("c", 2.0), {**kpi("d", 1.0), "labels": {"tenant": "x"}}]
    (entry,) = entries_of(document(1, given))
    assert {name: point.number for name, point in entry.kpis.items()} == {"c": 2.0, 'd{tenant="x"}': 1.0}


def test_incomplete_run_is_added_with_a_note(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    torn = write_run(tmp_path, [Shape(workloads=20, nodes=4, duration=1.0, lost=0.3)], run="torn")
    assert run(["history", "add", str(torn), "--into", str(tmp_path / "h")]) == 0
    printed = capsys.readouterr()
    assert "added: torn as" in printed.out
    assert printed.err.startswith("error: 002__scale_test__submit/artifacts/accounting.json: ")
