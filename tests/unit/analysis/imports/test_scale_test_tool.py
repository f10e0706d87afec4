"""The scale-test-tool's files: times.csv byte by byte, complete imports, errors that name the record."""

from __future__ import annotations

import csv
import hashlib
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from perfanalysis.__main__ import run
from perfanalysis.errors import DataQualityError, UsageError
from perfanalysis.imports.scale_test_tool.reading import read_working_directory
from perfanalysis.imports.scale_test_tool.times_csv import HEADER, OLD_HEADER, read_times_csv, times_csv
from perfanalysis.workloads.run_analysis import analyse_run

from tests.data.synthetic_runs import Shape, write_run
from tests.schemas import schema_of
from tests.unit.analysis.old_tool import make, sample, submission, write

PLACE = "000__imported__scale_test_tool"
SENT = [
    submission("j-00000a", 0.25),
    submission("j-00000b", 1.75),
    submission("j-00000c", 2.0),
    submission("j-00000d", 3.0),
]
SEEN = [
    # The workload's timestamp precedes the submission's fraction: -0.75 s, which the old tool reads as 0.
    sample("j-00000b", 1, 3, 4, 6, 5, 9),
    sample("j-0000ff", 1, 1, 1, 1, 1, 1),
    sample("j-00000c", 2, 3, 40, 41, 10, 12),
    sample("j-00000a", 1, 2, 2, 2, 3, 4, firstEvictionTimestamp="2026-03-02T10:00:08+00:00"),
]
OLD_BYTES = (
    b"Job Name,Namespace,projectName,Workload Created,Job Created,First Pod Created,Last Pod Created,"
    b"Pod Group Created,Pod Scheduling Decision,Workload Submitted,Backend Job Created,Workload Creation,Job Creation,"
    b"First Pod Creation,Last Pod Creation,Pod Group Creation,Pod Scheduling Decision,First Eviction,"
    b"First PVC Bind Request,First PVC Bind,Backend Job Creation,Total Pod Scheduling Decision,"
    b"Total Backend Job Creation\n"
    b"j-00000b,runai-project-0,project-0,2026-03-02 10:00:01,2026-03-02 10:00:03,2026-03-02 10:00:04,"
    b"2026-03-02 10:00:06,2026-03-02 10:00:05,2026-03-02 10:00:09,2026-03-02 10:00:09,2026-03-02 10:00:09,"
    b"2026-03-02 10:00:09,2026-03-02 10:00:01,2026-03-02 10:00:01,"
    b"0.0,2.0,1.0,3.0,1.0,4.0,4.0,4.0,0.0,-4.0,8.0,0.0\n"
    b"j-00000a,runai-project-0,project-0,2026-03-02 10:00:01,2026-03-02 10:00:02,2026-03-02 10:00:02,"
    b"2026-03-02 10:00:02,2026-03-02 10:00:03,2026-03-02 10:00:04,2026-03-02 10:00:08,2026-03-02 10:00:04,"
    b"2026-03-02 10:00:04,2026-03-02 10:00:01,2026-03-02 10:00:00,"
    b"1.0,1.0,0.0,0.0,1.0,1.0,5.0,1.0,0.0,-2.0,4.0,1.0\n"
)


@pytest.fixture(name="old")
def _old(tmp_path: Path) -> Path:
    return write(tmp_path / "logs", SENT, SEEN)


def test_old_layout_equals_the_old_tool_byte_by_byte(old: Path) -> None:
    made = times_csv(read_working_directory(old).columns, "scale-test")
    assert made.text.encode() == OLD_BYTES
    assert made.left_out == {
        "no record of the submission": 1,
        "pod group older than its first pod": 1,
        "no workload created time": 1,
    }


RECORDED = {
    (1, 200): ("02e6148f01ba3bb609ddf9df88fd2d9e08e76c277987ea3d9ebf47ecfa83a9db", 6.2513089005235605),
    (1, 2000): ("b13443120e4611384ebc1ed289fa94b84e77caeb7cff03402afcd4259de28d13", 6.2950474183350895),
    (2, 200): ("1a490b38053affde8d0e7ec09a2f473b9fa2992c71712a120ef73104c3c66e95", 6.230366492146596),
    (2, 2000): ("03d0b69dde467d459073c0af88269bc49ecf26f051d53d5bf9747896e8d42a1d", 6.04578947368421),
    (3, 200): ("96d1e97b6fdd8c06ad6b4def1b10d95be32f9ac650958a3b3a85d076e672373c", 6.168478260869565),
    (3, 2000): ("d4e37e4627d19c159fd6fde8eb1e52776555c904ba4e19bfe36d0d99bd770fdc", 6.162692103868574),
}
"""Seed and size → output of the old tool: SHA-256 of its times.csv, and its average to the decision."""


@pytest.mark.parametrize(("seed", "workloads"), list(RECORDED))
def test_old_layout_matches_files_of_the_old_tool(tmp_path: Path, seed: int, workloads: int) -> None:
    """The 0 of a slightly negative difference is written without a fraction there, for example."""
    made = times_csv(read_working_directory(make(tmp_path / "logs", workloads, seed)).columns, "scale-test")
    digest, average = RECORDED[seed, workloads]
    assert hashlib.sha256(made.text.encode()).hexdigest() == digest
    totals = [float(line.split(",")[-2]) for line in made.text.splitlines()[1:]]
    assert sum(totals) / len(totals) == pytest.approx(average, abs=1e-9)


def test_old_layout_keeps_the_time_limits_of_the_old_tool(
    tmp_path: Path,
) -> None:
    """It checked the pod group before it changed small negative differences to 0, and the total after that."""
    seen = [sample("j-00000a", 1, 2, 4, 4, 3, 5), sample("j-00000b", 0, 0, 0, 0, 0, 0)]
    made = times_csv(read_working_directory(write(tmp_path / "logs", SENT[:2], seen)).columns, "scale-test")
    assert made.left_out == {"pod group older than its first pod": 1}
    assert made.text.splitlines()[1].endswith("10:00:01,0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0,0")


def test_corrected_layout_names_columns_and_keeps_precision(old: Path) -> None:
    rows = list(csv.DictReader(times_csv(read_working_directory(old).columns, "corrected").text.splitlines()))
    assert [row["Job Name"] for row in rows] == ["j-00000a", "j-00000b", "j-00000c", "j-00000d", "j-0000ff"]
    first, second = rows[0], rows[1]
    assert len(first) == len(HEADER) == 26
    assert first["Workload Submitted"] == "2026-03-02T10:00:00.250000Z"
    assert (first["First Eviction"], first["First Eviction (s)"]) == ("2026-03-02T10:00:08Z", "5")
    assert (second["First Eviction"], second["First PVC Bind (s)"], second["Backend Job Created"]) == ("", "", "")
    assert second["Workload Creation (s)"] == "-0.75"
    assert rows[2]["Pod Group Creation (s)"] == "-30"
    assert set(list(rows[3].values())[3:13]) == {""}


def test_both_layouts_round_trip(old: Path, tmp_path: Path) -> None:
    workloads = read_working_directory(old).columns
    for layout in ("scale-test", "corrected"):
        path = tmp_path / f"{layout}.csv"
        path.write_text(times_csv(workloads, layout).text)
        again = tmp_path / f"{layout}.again.csv"
        again.write_text(times_csv(read_times_csv(path), layout).text)
        assert again.read_bytes() == path.read_bytes()


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("workloads", [40, 400])
def test_run_yields_the_same_file_as_its_working_folder(tmp_path: Path, seed: int, workloads: int) -> None:
    directory = make(tmp_path / "logs", workloads, seed)
    assert run(["import", "scale-test-tool", str(directory), "--output", str(tmp_path / "run")]) == 0
    direct = times_csv(read_working_directory(directory).columns, "scale-test")
    assert direct.rows > 0.8 * workloads
    assert run(["times-csv", str(tmp_path / "run"), "--csv-layout", "scale-test"]) == 0
    assert (tmp_path / "run" / "report" / "times.csv").read_text() == direct.text


def test_import_is_accounted_for_and_analysed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    directory = make(tmp_path / "logs", 50, 4, orphans=3, lost=2, old=0.0)
    assert run(["import", "scale-test-tool", str(directory), "--output", str(tmp_path / "run")]) == 0
    assert "50 submitted, 48 of them sampled, 2 lost (never sampled:" in capsys.readouterr().out
    artifacts = tmp_path / "run" / PLACE / "artifacts"
    accounting = json.loads((artifacts / "accounting.json").read_text())
    assert (accounting["submitted"], accounting["lost"], accounting["running"]) == (50, 2, 48)
    result = analyse_run(tmp_path / "run", tmp_path / "report")
    kpis = {value.name: value.number for value in result.analyses[0].kpis}
    assert kpis["workloads_submitted"] == 50
    assert kpis["lost_ratio"] == pytest.approx(0.04)
    assert kpis["time_to_scheduled_p50"] is not None
    assert [finding.text for finding in result.findings if finding.severity == "error"] == ["2 workloads were lost"]
    negative = result.analyses[0].frames["anomalies"].query("problem == 'negative'")
    assert len(negative) == 0  # Timestamps of whole seconds are late or early by less than their resolution.
    document = json.loads((tmp_path / "run" / "run.json").read_text())
    assert document["imported"]["from"] == "scale-test-tool"
    assert set(document["imported"]["files"]) == {"submitted.json", "sampled.json"}


def test_every_imported_file_follows_its_schema(old: Path, tmp_path: Path) -> None:
    assert run(["import", "scale-test-tool", str(old), "--output", str(tmp_path / "run")]) == 0
    artifacts = tmp_path / "run" / PLACE / "artifacts"
    for kind in ("recording", "accounting", "nodes"):
        jsonschema.validate(json.loads((artifacts / f"{kind}.json").read_text()), schema_of(kind))
    for kind in ("submissions", "transitions"):
        rows = [json.loads(line) for line in (artifacts / f"{kind}.jsonl").read_text().splitlines()]
        assert rows
        for row in rows:
            jsonschema.validate(row, schema_of(kind))


@pytest.mark.parametrize(
    "stamp",
    [
        "2026-03-02T12:00:04.25+02:00",
        "2026-03-02T05:00:04.250-05:00",
        "2026-03-02T10:00:04.250000Z",
        "2026-03-02T10:00:04.25+00:00",
        "2026-03-02T10:00:04.25",
        1772445604.25,
    ],
)
def test_all_spellings_of_a_time_are_equal(tmp_path: Path, stamp: object) -> None:
    seen = [sample("j-00000a", 1, 2, 2, 2, 3, 9, podSchedulingDecisionTimestamp=stamp)]
    samples = read_working_directory(write(tmp_path / "logs", SENT[:1], seen)).samples
    assert samples.time("scheduled").tolist() == [1772445604.25]
    assert (samples.time("scheduled") - samples.time("submitted")).tolist() == [4.0]


@pytest.mark.parametrize("stamp", [True, [], {}, "", "noon", 1e12, -1, float("nan")])
def test_invalid_time_is_refused_with_record_and_key(tmp_path: Path, stamp: object) -> None:
    seen = [SEEN[0], sample("j-00000a", 1, 2, 2, 2, 3, 9, podSchedulingDecisionTimestamp=stamp)]
    with pytest.raises(DataQualityError, match=r"record 2 \(j-00000a\): podSchedulingDecisionTimestamp: "):
        read_working_directory(write(tmp_path / "logs", SENT, seen))


@pytest.mark.parametrize(
    ("sent", "seen", "severity", "text"),
    [
        (SENT, [], None, "never sampled"),
        (SENT, None, "warning", "only the submissions are known"),
        (None, SEEN, "warning", "only submissions of sampled workloads are known"),
        ([*SENT, submission("j-00000a", 9.0)], SEEN, "warning", "1 names were submitted twice"),
        (
            SENT,
            [{key: value for key, value in SEEN[0].items() if key != "podGroupCreatedTimestamp"}],
            "warning",
            "1 records have no podGroupCreatedTimestamp",
        ),
    ],
)
def test_missing_data_is_reported(
    tmp_path: Path,
    sent: list[dict[str, Any]] | None,
    seen: list[dict[str, Any]] | None,
    severity: str | None,
    text: str,
) -> None:
    found = read_working_directory(write(tmp_path / "logs", sent, seen))
    messages = [(finding.severity, finding.text) for finding in found.findings]
    if severity is None:
        assert (messages, len(found.lost_columns)) == ([], len(SENT))
        assert text in found.lost_reason
    else:
        assert any(one == severity and text in words for one, words in messages)


def test_times_csv_replaces_a_missing_sample(old: Path) -> None:
    (old / "times.csv").write_bytes(OLD_BYTES)
    (old / "sampled.json").unlink()
    found = read_working_directory(old)
    assert list(found.samples.names) == ["j-00000b", "j-00000a"]
    assert set(found.lost_columns.names) == {"j-00000c", "j-00000d"}
    assert found.samples.time("submitted")[1] == found.submitted.time("submitted")[0]


@pytest.mark.parametrize(
    ("name", "content", "error", "message"),
    [
        ("sampled.json", "{", DataQualityError, "cannot read .*sampled.json"),
        ("sampled.json", "{}", DataQualityError, "sampled.json does not contain a list of workloads"),
        ("sampled.json", "[3]", DataQualityError, "record 1 is not an object"),
        ("sampled.json", json.dumps([{**SEEN[0], "jobName": 7}]), DataQualityError, "record 1 has no jobName"),
        (
            "sampled.json",
            json.dumps([SEEN[1], {**SEEN[0], "jobCreatedTimestamp": "noon"}]),
            DataQualityError,
            r"record 2 \(j-00000b\): jobCreatedTimestamp: 'noon' is neither an ISO 8601 time",
        ),
        (
            "submitted.json",
            json.dumps([{"jobName": "a", "jobNamespace": "b", "projectName": "c"}]),
            DataQualityError,
            r"record 1 \(a\) has no submitTimestamp",
        ),
    ],
)
def test_damage_is_reported_with_file_and_record(
    old: Path, name: str, content: str, error: type[Exception], message: str
) -> None:
    (old / name).write_text(content)
    with pytest.raises(error, match=message):
        read_working_directory(old)


@pytest.mark.parametrize(
    ("content", "error", "message"),
    [
        ("a,b\n1,2\n", UsageError, "not have the header of a times.csv"),
        (",".join(OLD_HEADER) + "\na,b\n", DataQualityError, "times.csv:2: the row has 2 fields"),
        (",".join(OLD_HEADER) + "\n" + ",".join(["x"] * 26) + "\n", DataQualityError, "times.csv:2: workload created"),
    ],
)
def test_invalid_times_csv_is_refused(tmp_path: Path, content: str, error: type[Exception], message: str) -> None:
    (tmp_path / "times.csv").write_text(content)
    with pytest.raises(error, match=message):
        read_times_csv(tmp_path / "times.csv")


def test_empty_folder_and_existing_run_are_refused(
    old: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "empty").mkdir()
    assert run(["import", "scale-test-tool", str(tmp_path / "empty")]) == 2
    assert run(["import", "scale-test-tool", str(old), "--output", str(old)]) == 2
    assert "already exists" in capsys.readouterr().err
    (old / "sampled.json").write_text("[")
    assert run(["import", "scale-test-tool", str(old), "--output", str(tmp_path / "run")]) == 5
    assert not (tmp_path / "run").exists()


def test_times_of_a_native_run(small_run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["times-csv", str(small_run)]) == 0
    rows = list(csv.DictReader((small_run / "report" / "times.csv").read_text().splitlines()))
    assert len(rows) == 60
    assert 0 < float(rows[0]["Workload Creation (s)"]) < 1
    assert run(["times-csv", str(small_run), "--csv-layout", "scale-test"]) == 0
    lines = (small_run / "report" / "times.csv").read_text().splitlines()
    assert {len(line.split(",")) for line in lines[1:]} == {26}
    capsys.readouterr()


def test_times_of_a_run_with_the_full_chain(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Pod groups, the intermediate object, and volumes that we watched ourselves have columns."""
    shape = Shape(workloads=60, nodes=8, rate=10.0, duration=2.0, kind="TrainingWorkload", everything=True)
    recorded = write_run(tmp_path, [shape])
    assert run(["times-csv", str(recorded)]) == 0
    rows = list(csv.DictReader((recorded / "report" / "times.csv").read_text().splitlines()))
    for name in ("Job Creation (s)", "Pod Group Creation (s)", "First PVC Bind Request (s)", "First PVC Bind (s)"):
        assert sum(row[name] != "" for row in rows) > 0.9 * len(rows), name
    bound = [float(row["First PVC Bind (s)"]) for row in rows if row["First PVC Bind (s)"]]
    assert min(bound) >= 0
    assert max(bound) > 0
    capsys.readouterr()
