"""LTS payloads of MatrixBenchmarking as runs of a history."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from perfanalysis.__main__ import run
from perfanalysis.errors import UsageError
from perfanalysis.imports.lts import File, history_documents, measured, read_file, scale_of
from perfanalysis.results.history.folder import load

from tests.data.result_trees import lts_payload
from tests.schemas import check

UUID = "5a1f0c9e-2222-4333-8444-5556677788{:02d}"
LATENCIES = {"help": "Latency", "unit": "ms", "value": [10, 30.0, "20", -1], "lower_better": True}


def file_of(folder: Path, document: object) -> File:
    path = folder / "payload.json"
    path.write_text(json.dumps(document))
    return read_file(path)


def kpis_of(file: File) -> dict[str, Any]:
    return {kpi.name: kpi for kpi in file.payloads[0].run.kpis}


@pytest.mark.parametrize(
    ("given", "number", "reason", "count"),
    [
        (3, 3.0, None, None),
        ("41", 41.0, None, None),
        (0, 0.0, None, None),
        (-1, None, "-1 marks a missing metric", None),
        (-1.0, None, "-1 marks a missing metric", None),
        (-1.5, -1.5, None, None),
        (None, None, "the payload has no value: the function that computes it failed", None),
        ("NaN", None, "it is not a finite number", None),
        (10**400, None, f"'{'1' + '0' * 39}' is not a number", None),
        (True, None, "'True' is not a number", None),
        ({"a": 1}, None, "\"{'a': 1}\" is not a number", None),
        ([3, None, 1, -1, "2"], 2.0, None, 3),
        ([-1, -1], None, "-1 marks a missing metric", None),
        ([], None, "its list is empty", None),
    ],
)
def test_invalid_value_has_a_reason(given: object, number: float | None, reason: str | None, count: int | None) -> None:
    found = measured(given)
    assert (found.number, found.reason, found.count) == (number, reason, count)


@pytest.mark.parametrize(
    ("unit", "ours", "factor"),
    [
        ("sec", "seconds", 1),
        ("ms", "seconds", 0.001),
        ("%", "ratio", 0.01),
        ("GB", "bytes", 1e9),
        ("tokens/s", "tokens/s", 1),
        ("samples/sec", "samples/s", 1),
        ("MB/s", "bytes/s", 1e6),
        ("x", "count", 1),
        ("", "count", 1),
        (None, "count", 1),
        ("cores", "{cores}", 1),
        ("hours/Mtoken", "{hours per Mtoken}", 1),
        ("sec/run", "{sec per run}", 1),
        ("€", "{unknown}", 1),
        ("/s/s", "{per s per s}", 1),
    ],
)
def test_units_are_converted(unit: object, ours: str, factor: float) -> None:
    scale = scale_of(unit)
    assert (scale.unit, scale.factor) == (ours, factor)


def test_payload_becomes_a_run_with_keys_facts_and_kpis(tmp_path: Path) -> None:
    more = {
        "TPOT median": LATENCIES,
        "memory": {"help": "Memory", "unit": "MB", "value": 2048, "divisor": 1024, "divisor_unit": "GB"},
        "ignored": {"help": "x", "unit": "sec", "value": 5, "lower_better": True, "ignored_for_regression": True},
        "absent": {"help": "x", "unit": "sec", "value": -1, "lower_better": True},
    }
    file = file_of(tmp_path, lts_payload(UUID.format(1), "2.13.0", 100.5, kpis=more))
    (document,) = history_documents(file.payloads, {"file": "payload.json", "sha256": "0" * 64})
    check(document)
    (recording,) = document["recordings"]
    assert recording["keys"] == {"model_name": "tiny-1b", "virtual_users": 4, "nested.batch": 8}
    assert document["facts"]["rhoai_version"] == "2.13.0"
    assert "secret" not in json.dumps(document)
    assert (document["run"], document["started"]) == (UUID.format(1), "2026-03-03T09:00:00.000Z")
    assert recording["missing"] == {"absent": "-1 marks a missing metric"}
    kpis = kpis_of(file)
    assert (kpis["throughput"].number, kpis["throughput"].direction) == (100.5, "higher")
    assert (kpis["tpot_median"].number, kpis["tpot_median"].unit, kpis["tpot_median"].count) == (0.02, "seconds", 3)
    assert kpis["tpot_median"].direction == "lower"
    assert (kpis["memory"].number, kpis["memory"].unit, kpis["memory"].direction) == (2.048e9, "bytes", "neither")
    assert (kpis["ignored"].number, kpis["ignored"].direction) == (5, "neither")
    texts = " ".join(finding.text for finding in file.payloads[0].findings)
    assert "1 KPIs have no value (-1 marks a missing metric): absent" in texts
    assert "1 KPIs have a text instead of a number" in texts


@pytest.mark.parametrize(("key", "value"), [("status", "Invalid"), ("exit_code", 2)])
def test_failed_test_is_not_added_to_history(tmp_path: Path, key: str, value: object) -> None:
    payload = lts_payload(UUID.format(1), "2.13.0", 1)
    payload["metadata"][key] = value
    (document,) = history_documents(file_of(tmp_path, payload).payloads, {"file": "x", "sha256": "0"})
    assert document["status"] == "failed"


def test_invalid_and_duplicate_payloads_are_reported(tmp_path: Path) -> None:
    payload = lts_payload(UUID.format(1), "2.13.0", 1)
    file = file_of(tmp_path, [payload, payload, {"metadata": {}}, 7, {"metadata": [], "kpis": {}}])
    assert len(file.payloads) == 1
    assert [finding.where for finding in file.findings] == [f"payload.json[{n}]" for n in (1, 2, 3, 4)]


@pytest.mark.parametrize("content", [b"", b"{", b"\xff", b"[" * 99_999])
def test_invalid_json_file_is_one_error(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "p.json").write_bytes(content)
    with pytest.raises(UsageError, match=r"cannot read .*p\.json"):
        read_file(tmp_path / "p.json")


def test_values_too_large_for_a_history_are_replaced(tmp_path: Path) -> None:
    path = tmp_path / "p.json"
    text = json.dumps(lts_payload(UUID.format(1), "2.13.0", 1)).replace('"tiny-1b"', '"\\ud800"').replace("8}", "NaN}")
    path.write_text(text)
    assert run(["import", "lts", str(path), "--history", str(tmp_path / "history")]) == 0
    (entry,) = load(tmp_path / "history").entries()
    assert entry.keys["model_name"] == "?"


def test_downloaded_history_judges_its_last_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    downloaded, history = tmp_path / "lts", tmp_path / "history"
    downloaded.mkdir()
    (downloaded / "source.lts.yaml").write_text("index: tests\n")
    draw = random.Random(4)
    for day in range(20):
        throughput = draw.gauss(80.0 if day >= 17 else 100.0, 1.0)
        payload = lts_payload(UUID.format(day), f"2.{day}.0", throughput, day)
        (downloaded / f"tests_{day:02d}.json").write_text(json.dumps(payload))
    assert run(["import", "lts", str(downloaded), "--history", str(history)]) == 0
    assert run(["import", "lts", str(downloaded), "--history", str(history)]) == 0
    assert "0 runs added, 1 already there" in capsys.readouterr().out
    assert len(load(history).documents) == 20
    judged = ["regress", UUID.format(19), "--history", str(history), "--output", str(tmp_path / "out")]
    assert run([*judged, "--sort-by", "rhoai_version"]) == 4
    assert "throughput" in capsys.readouterr().out
