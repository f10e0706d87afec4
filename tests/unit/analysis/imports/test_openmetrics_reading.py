"""OpenMetrics text in a history: samples that become KPIs, and refused ones with their position."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from perfanalysis.__main__ import run
from perfanalysis.errors import DataQualityError
from perfanalysis.imports.openmetrics import families_of
from perfanalysis.results.history.documents import Entry
from perfanalysis.results.history.folder import load
from perfanalysis.workloads.run_analysis import analyse_run

DATA = Path(__file__).resolve().parents[3] / "data" / "foreign" / "openmetrics"
EVERYTHING = (DATA / "serving.om").read_text().replace("# EOF\n", "") + (DATA / "dump.om").read_text()
SIGNS = '{}",= #\n0aeN_-+.\\'


def mutations(text: str, count: int) -> Iterator[str]:
    chance = random.Random(6)
    for _ in range(count):
        if chance.random() < 0.5:
            signs = list(text)
            place = chance.randrange(len(signs))
            signs[place : place + chance.randrange(2)] = chance.choice(SIGNS)
            yield "".join(signs)
        else:
            lines = text.splitlines()
            first, second = chance.randrange(len(lines)), chance.randrange(len(lines))
            lines[first : first + chance.randrange(2)] = chance.choice(([], [lines[second]]))
            yield "\n".join(lines) + "\n"


def test_damaged_text_is_read_or_refused_in_one_error() -> None:
    refused = 0
    for text in mutations(EVERYTHING, 600):
        try:
            families_of(text.encode(), "mutated")
        except DataQualityError as error:
            assert re.match(r"mutated:\d+: not OpenMetrics text: .", str(error))
            refused += 1
    assert refused > 150


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", ":1: .*Missing # EOF at end"),
        ("a 1\n# EOF\nb 2\n", ":3: .*Received line after # EOF"),
        ("a 1\n\n# EOF\n", ":2: .*Received blank line"),
        ("# TYPE 1a gauge\n# EOF\n", ":1: .*the parser of Prometheus cannot read it up to this line"),
        ("# TYPE a guage\n# EOF\n", ":2: .*Invalid metric type: guage"),
        ("# UNIT a seconds\n# EOF\n", ":2: .*Unit does not match metric name: a"),
        ("a 0x1\n# EOF\n", ":1: .*could not convert string to float: '0x1'"),
        ("a 1 2\na 2\n# EOF\n", ":2: .*Mix of timestamp presence"),
        ('# TYPE h histogram\nh_bucket{le="1"} 1\n# EOF\n', ":3: .*[+]Inf bucket missing: h"),
    ],
)
def test_parser_error_is_one_line_with_its_position(text: str, message: str) -> None:
    with pytest.raises(DataQualityError, match=message):
        families_of(text.encode(), "x.om")


def test_native_histogram_is_not_a_kpi(tmp_path: Path) -> None:
    path = tmp_path / "native.om"
    histogram = "{count:4,sum:6,schema:3,zero_threshold:0.1,zero_count:1,positive_spans:[0:2],positive_deltas:[1,2]}"
    path.write_text(f"# TYPE h histogram\nh {histogram}\n# TYPE a gauge\na 1\n# EOF\n")
    (entry,) = import_file(tmp_path, path, "--started", "2026-01-01T00:00:00Z")
    assert set(entry.kpis) == {"a"}


def test_non_text_input_is_refused() -> None:
    with pytest.raises(DataQualityError, match=r"x.om:2: .*not UTF-8"):
        families_of(b"a 1\nb\xff 1\n# EOF\n", "x.om")


def import_file(tmp_path: Path, path: Path, *more: str) -> tuple[Entry, ...]:
    assert run(["import", "openmetrics", str(path), "--history", str(tmp_path / "history"), *more]) == 0
    return load(tmp_path / "history").entries()


def test_numbers_enter_a_history_by_labels(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    more = ["--started", "2026-01-01T01:00:00+01:00", "--lower", "time_*", "--unit", "time_*_p*=ms"]
    (entry,) = import_file(tmp_path, DATA / "serving.om", *more, "--run", "night-1")
    assert (entry.run, entry.started, entry.keys) == ("night-1", "2026-01-01T00:00:00.000Z", {"model": "tiny"})
    assert entry.facts == {"server.backend": "b\\c", "server.version": "1.8.2"}
    numbers = {name: (kpi.number, kpi.unit, kpi.direction) for name, kpi in entry.kpis.items()}
    assert numbers == {
        "request_duration_seconds_count": (100.0, "count", "neither"),
        "request_duration_seconds_mean": (pytest.approx(0.315), "seconds", "neither"),
        "time_to_first_token_p50": (pytest.approx(0.000031), "seconds", "lower"),
        "time_to_first_token_p99": (pytest.approx(0.00007), "seconds", "lower"),
        "time_to_first_token_count": (80.0, "count", "lower"),
        "time_to_first_token_mean": (pytest.approx(0.035), "{unknown}", "lower"),
        "tokens_total": (51200.0, "{unknown}", "neither"),
        "gpu_memory_used_bytes": (4.2e10, "bytes", "neither"),
    }
    errors = capsys.readouterr().err
    assert "of request_duration_seconds only count and mean become KPIs" in errors
    assert "phase: states are not KPIs" in errors
    assert "1 samples: not finite" in errors


def test_dump_requires_a_moment(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["import", "openmetrics", str(DATA / "dump.om"), "--history", str(tmp_path / "history")]
    assert run(arguments) == 2
    assert "node_load has 3 samples; choose the value of the KPI with --statistic" in capsys.readouterr().err
    first, second = import_file(tmp_path, DATA / "dump.om", "--statistic", "max", "--fact", "node")
    assert (first.kpis["node_load"].number, second.kpis["node_load"].number) == (1.5, 0.75)
    assert (first.keys, first.recording, second.recording) == ({}, "node=w-1", "node=w-2")


def test_exported_kpis_round_trip(small_run: Path, tmp_path: Path) -> None:
    assert run(["kpi", str(small_run), "--output", str(tmp_path / "kpis")]) == 0
    (entry,) = import_file(tmp_path, tmp_path / "kpis" / "kpis.prom")
    (analysis,) = analyse_run(small_run, tmp_path / "report").analyses
    expected = {kpi.name: (kpi.number, kpi.unit, kpi.direction) for kpi in analysis.kpis if kpi.number is not None}
    assert {name: (kpi.number, kpi.unit, kpi.direction) for name, kpi in entry.kpis.items()} == expected
    assert len(expected) > 30
    assert (entry.run, entry.recording, entry.facts["flow"]) == (small_run.name, analysis.place.name, "scale_test")


@pytest.mark.parametrize(
    ("text", "arguments", "code", "message"),
    [
        ("a 1\n# EOF\n", (), 2, "has no timestamps; pass --started"),
        ("a 1\n# EOF\n", ("--started", "noon"), 2, "--started noon: write a time with its zone"),
        ("# TYPE a info\n# EOF\n", (), 5, "has no value that can be a KPI"),
        ("a_b 1 1\na:b 1 1\n# EOF\n", (), 5, "several metrics would become the KPI a_b of all; rename one"),
    ],
)
def test_input_that_cannot_be_stored_is_one_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, arguments: tuple[str, ...], code: int, message: str
) -> None:
    path = tmp_path / "x.om"
    path.write_text(text)
    assert run(["import", "openmetrics", str(path), "--history", str(tmp_path / "history"), *arguments]) == code
    assert message in capsys.readouterr().err
    assert not (tmp_path / "history").exists()
