"""Thresholds: names and limits are checked first; exit code, JSON, JUnit and report show the verdicts."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import jsonschema
import pytest
import yaml
from perfanalysis.__main__ import run
from perfanalysis.errors import UsageError
from perfanalysis.reports.writing import make_report
from perfanalysis.verdicts.thresholds.threshold import declared_measures, parse_threshold, parse_thresholds, parse_words
from perfanalysis.verdicts.thresholds.verdict import judge
from perfanalysis.verdicts.thresholds.write import check_thresholds, judge_run
from perfanalysis.workloads.kinds import shipped
from perfanalysis.workloads.run_analysis import analyse_run

from tests.data.synthetic_runs import Shape, write_run

pytestmark = pytest.mark.slow

SCHEMA = json.loads((Path(__file__).resolve().parents[4] / "docs" / "schema" / "verdict-1.json").read_text())
KNOWN = declared_measures(shipped())


@pytest.mark.parametrize(
    ("name", "limit", "sign", "number"),
    [
        ("pod_ready_p99", "5s", "<=", 5.0),
        ("pod_ready_p90", 5, "<=", 5.0),
        ("time_to_running_p95", "250ms", "<=", 0.25),
        ("time_to_ready_max", "1m30s", "<=", 90.0),
        ("scheduling_mean", "< 40us", "<", 4e-5),
        ("lost", 0, "<=", 0.0),
        ("completed", 20, ">=", 20.0),
        ("submission_rate", ">= 20/s", ">=", 20.0),
        ("completion_rate", "120/min", ">=", 2.0),
        ("completed_ratio", "99%", ">=", 0.99),
        ("failed_ratio", "0.01", "<=", 0.01),
        ("execution_p50", "== 2s", "==", 2.0),
        ("gpu_idle_while_waiting", "1e3", "<=", 1000.0),
        ("apiserver_memory_peak", "2.5GB", "<=", 2.5e9),
        ("etcd_db_growth", "64MiB", "<=", 67_108_864.0),
        ("gang_completeness_p90", "1s", "<=", 1.0),
        ("rescheduling_mean", "10s", "<=", 10.0),
        ("fairness_jain", "0.9", ">=", 0.9),
        ("apiserver_post_p99", "100ms", "<=", 0.1),
        ("churned", "== 5", "==", 5.0),
    ],
)
def test_limit_has_an_operator_and_a_base_unit(name: str, limit: object, sign: str, number: float) -> None:
    threshold = parse_threshold(name, limit, KNOWN)
    assert threshold.operator == sign
    assert threshold.limit == pytest.approx(number)
    assert threshold.holds(number) is (sign not in "<>")


@pytest.mark.parametrize(
    ("name", "limit", "message"),
    [
        ("pod_redy_p99", "5s", "unknown measure pod_redy_p99; did you mean pod_ready_p99?"),
        ("time_to_running", "5s", "did you mean time_to_running_"),
        ("xyzzy", 1, "list them by `perfanalysis measures`"),
        ("pod_ready_p99", "5/s", r"'5/s' is not a limit in seconds; write it like 500ms or 5s"),
        ("pod_ready_p99", "soon", "'soon' is not a limit in seconds"),
        ("submission_rate", "20/s", "no direction is better, so write '<= 20/s' or '>= 20/s'"),
        ("lost", True, "invalid limit True"),
        ("lost", [1], r"invalid limit \[1\]"),
        ("lost", "1e999", "is too large"),
    ],
)
def test_invalid_threshold_lists_valid_ones(name: str, limit: object, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        parse_threshold(name, limit, KNOWN)


def test_all_mistakes_are_reported_together() -> None:
    with pytest.raises(UsageError, match=r"(?s)losst.*did you mean lost.*pod_ready_p99"):
        parse_thresholds({"losst": 0, "pod_ready_p99": "x", "failed": 0}, KNOWN)


def test_percentile_of_too_few_workloads_is_refused_before_the_test() -> None:
    given = {"time_to_ready_p99": "5s", "bind_p95": "1s", "readiness_p90": "1s", "readiness_max": "1s", "lost": 0}
    with pytest.raises(UsageError) as raised:
        check_thresholds({**given, "rescheduling_p99": "1s"}, workloads=10)
    assert str(raised.value) == (
        "threshold time_to_ready_p99 needs 100 workloads; a test has 10; "
        "threshold bind_p95 needs 20 workloads; a test has 10"
    )
    assert len(check_thresholds(given, workloads=100)) == len(check_thresholds(given)) == 5


def test_thresholds_of_a_command_line() -> None:
    words = ["lost=0", "pod_ready_p99 = 5s", "submission_rate>=20/s", "a<b"]
    assert parse_words(words) == {"lost": "0", "pod_ready_p99": "5s", "submission_rate": ">= 20/s", "a": "< b"}
    for wrong in (["lost"], ["=3"], ["lost="], ["lost=0", "lost<=3"]):
        with pytest.raises(UsageError):
            parse_words(wrong)


def test_every_statistic_of_every_step_is_a_measure() -> None:
    for statistic in ("p50", "p90", "p95", "p99", "max", "mean"):
        assert KNOWN[f"time_to_ready_{statistic}"].unit == "seconds"
    assert KNOWN["time_to_ready_p95"].direction == "lower"
    assert KNOWN["execution_p95"].direction == "neither"


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["time_to_running_max=600s", "lost=0", "failed=0", "completed>=60"], 0, ""),
        (["time_to_running_p50=1ms", "lost=0"], 4, "1 threshold missed: time_to_running_p50 <= 1ms: "),
        (["lost<0"], 5, "the data is incomplete: lost < 0: 0"),
        (
            ["time_to_running_p99=600s"],
            6,
            "cannot judge 1 threshold: time_to_running_p99 <= 600s: needs 100 values",
        ),
        (["pvc_bind_p90=1s"], 6, "pvc_bind_p90 <= 1s: no volume claims in this recording"),
        (["time_to_running_p50=1ms", "time_to_running_p99=600s"], 4, "missed"),
        (["losst=0"], 2, "unknown measure losst; did you mean lost?"),
        ([], 2, "no threshold to judge by"),
    ],
)
def test_judge_exits_with_the_code_of_the_verdict(
    small_run: Path, capsys: pytest.CaptureFixture[str], words: list[str], code: int, message: str
) -> None:
    options = [part for word in words for part in ("--threshold", word)]
    assert run(["judge", str(small_run), *options]) == code
    assert message in capsys.readouterr().err
    assert (small_run / "report" / "verdict.json").is_file() is (code != 2)


def test_too_few_values_can_be_allowed(small_run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--threshold", "time_to_running_p99=600s", "--allow-unjudged"]
    assert run(["judge", str(small_run), *options]) == 0
    assert "not judged: time_to_running_p99" in capsys.readouterr().out


def test_lost_workloads_exit_with_5_unless_a_threshold_allows_them(tmp_path: Path) -> None:
    directory = write_run(tmp_path, [Shape(workloads=40, nodes=5, duration=1.0, lost=0.1)])
    lost = json.loads(next(directory.rglob("accounting.json")).read_text())["lost"]
    assert lost > 0
    assert run(["judge", str(directory), "--threshold", "failed=0"]) == 5
    assert run(["judge", str(directory), "--threshold", f"lost={lost - 1}"]) == 5
    assert run(["judge", str(directory), "--threshold", f"lost={lost}"]) == 0


def test_threshold_on_losses_allows_them_in_any_spelling(tmp_path: Path) -> None:
    directory = write_run(tmp_path / "run", [Shape(workloads=40, nodes=5, duration=1.0, lost=0.1)])
    result = analyse_run(directory, tmp_path / "tables")
    (lost,) = (finding for finding in result.findings if finding.severity == "error")
    other = replace(result, findings=(replace(lost, where="elsewhere", text="some never came back"),))
    allowed = parse_thresholds({"lost": 40}, KNOWN)
    assert lost.cause == "lost"
    assert judge(other, allowed).data_errors == ()
    assert judge(other, parse_thresholds({"failed": 0}, KNOWN)).data_errors == ("elsewhere: some never came back",)


def test_accounting_of_a_killed_recorder_is_not_judged(killed_run: Path) -> None:
    assert run(["judge", str(killed_run), "--threshold", "lost=0"]) == 6


def test_run_without_a_recording_is_not_judged(small_run: Path) -> None:
    next(small_run.rglob("recording.json")).unlink()
    assert run(["judge", str(small_run), "--threshold", "lost=0"]) == 6


def test_thresholds_of_the_run_are_used(small_run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = small_run / "settings.yml"
    settings = yaml.safe_load(path.read_text())
    settings["all"]["scale_test_thresholds"]["value"] = {"lost": 0, "time_to_running_p50": "1ms"}
    path.write_text(yaml.safe_dump(settings))
    assert run(["judge", str(small_run), "--thresholds-from", "settings"]) == 4
    assert run(["judge", str(small_run), "--thresholds-from", "settings", "--threshold", "time_to_running_p50=1h"]) == 0
    del settings["all"]["scale_test_thresholds"]
    path.write_text(yaml.safe_dump(settings))
    assert run(["judge", str(small_run), "--thresholds-from", "settings"]) == 2
    assert "has no thresholds" in capsys.readouterr().err


def test_documents_of_a_matrix(matrix_run: Path, tmp_path: Path) -> None:
    thresholds = {"lost": 0, "time_to_running_p50": "1us", "time_to_running_p99": "1h"}
    made = judge_run(matrix_run, thresholds, tmp_path / "out")
    document = json.loads(made.json.read_text())
    jsonschema.validate(document, SCHEMA)
    outcomes = [[one["outcome"] for one in recording["thresholds"]] for recording in document["recordings"]]
    assert outcomes == [["met", "missed", "not judged"]] * 2
    assert document["exit_code"] == 4
    assert "cell 1: time_to_running_p50 <= 1us" in document["reason"]
    root = ElementTree.fromstring(made.junit.read_text())
    assert [suite.get("name") for suite in root] == ["cell 0", "cell 1", "data"]
    assert (root.get("tests"), root.get("failures"), root.get("errors"), root.get("skipped")) == ("7", "2", "2", "0")
    allowed = judge_run(matrix_run, thresholds, tmp_path / "out", unjudged_allowed=True)
    root = ElementTree.fromstring(allowed.junit.read_text())
    assert (root.get("errors"), root.get("skipped")) == ("0", "2")


def test_cell_is_judged_as_part_of_its_run(matrix_run: Path, tmp_path: Path) -> None:
    (cell,) = matrix_run.glob("*__cell__1")
    document = judge_run(cell, {"lost": 0}, tmp_path / "out").document
    jsonschema.validate(document, SCHEMA)
    assert (document["run"], document["flow"]) == (matrix_run.name, "scale_test")
    assert "pods" in document["lab"]["simulated"]
    assert [recording["labels"]["cell"] for recording in document["recordings"]] == ["1"]


def test_same_run_yields_identical_output(small_run: Path, tmp_path: Path) -> None:
    first, second = (judge_run(small_run, {"lost": 0}, tmp_path / name) for name in ("a", "b"))
    assert first.json.read_bytes() == second.json.read_bytes()
    assert first.junit.read_bytes() == second.junit.read_bytes()


def test_report_shows_verdicts_of_flow_and_command_line(small_run: Path) -> None:
    for cell in (3, 4):
        judge_run(small_run, {"lost": 0}, small_run / f"00{cell}__scale_test__judge" / "artifacts")
    assert run(["judge", str(small_run), "--threshold", "time_to_running_p50=1ms"]) == 4
    page = make_report(small_run).index.read_text()
    assert 'id="verdicts"' in page
    assert page.count("<h3>Thresholds of the run</h3>") == 1
    assert page.count("<h3>Thresholds given to perfanalysis judge</h3>") == 1
    assert "<small>004__scale_test__judge/artifacts</small>" in page
    assert '<span class="status met">met</span>' in page
    assert '<span class="status missed">missed</span>' in page
    assert "Exit code 4: 1 threshold missed" in page


def test_report_of_an_unjudged_run_has_no_verdicts(small_run: Path) -> None:
    assert 'id="verdicts"' not in make_report(small_run).index.read_text()


def test_measures_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["measures"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert {line.split()[0] for line in lines} == set(KNOWN)


def test_recording_of_a_single_moment_is_judged(tmp_path: Path) -> None:
    directory = write_run(tmp_path, [Shape(workloads=1, nodes=1)])
    artifacts = next(directory.rglob("recording.json")).parent
    (artifacts / "submissions.jsonl").unlink()
    first = (artifacts / "transitions.jsonl").read_text().splitlines()[0]
    (artifacts / "transitions.jsonl").write_text(first + "\n")
    accounting = {
        "schema": "psap.perf/accounting/1",
        "submitted": 1,
        "completed": 0,
        "failed": 0,
        "lost": 0,
        "running": 1,
    }
    (artifacts / "accounting.json").write_text(json.dumps(accounting))
    assert run(["judge", str(directory), "--threshold", "completed=1"]) == 4
    assert make_report(directory).index.is_file()
