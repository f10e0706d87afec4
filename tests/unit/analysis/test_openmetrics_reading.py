"""OpenMetrics text: what is read, what is refused and where, never laxer than Prometheus' own parser."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from perfanalysis.__main__ import run
from perfanalysis.errors import DataQualityError, UsageError
from perfanalysis.imports.openmetrics.reading import families_of, read_openmetrics
from perfanalysis.results.history.entries import Entry
from perfanalysis.results.history.folder import load
from perfanalysis.workloads.run_analysis import analyse_run
from prometheus_client.metrics_core import Metric
from prometheus_client.openmetrics.parser import text_string_to_metric_families

DATA = Path(__file__).resolve().parents[2] / "data" / "foreign" / "openmetrics"
EVERYTHING = (DATA / "serving.om").read_text().replace("# EOF\n", "") + (DATA / "dump.om").read_text()
SIGNS = '{}",= #\n0aeN_-+.\\'


def theirs(text: str) -> list[Metric]:
    parse: Callable[[str], Iterator[Metric]] = text_string_to_metric_families
    return list(parse(text))


def test_families_samples_and_escapes_are_read() -> None:
    families = {family.name: family for family in read_openmetrics(DATA / "serving.om")}
    assert [family.type for family in families.values()] == [
        "histogram",
        "summary",
        "counter",
        "gauge",
        "info",
        "stateset",
    ]
    assert families["time_to_first_token"].help == 'Of the answers that stream, in "streaming" mode'
    duration = families["request_duration_seconds"]
    assert (duration.unit, len(duration.samples)) == ("seconds", 6)
    assert duration.samples[1].labels == {"model": "tiny", "le": "1.0"}
    assert families["server"].samples[0].labels["backend"] == "b\\c"
    assert math.isnan(families["gpu_memory_used_bytes"].samples[1].value)
    assert [sample.at_s for sample in read_openmetrics(DATA / "dump.om")[0].samples][-1] == 1767225630.5


def test_it_reads_what_prometheus_own_parser_reads() -> None:
    expected = {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in theirs((DATA / "serving.om").read_text())
        for sample in family.samples
        if math.isfinite(sample.value)
    }
    ours = {
        (family.name + sample.ending, tuple(sorted(sample.labels.items()))): sample.value
        for family in read_openmetrics(DATA / "serving.om")
        for sample in family.samples
        if math.isfinite(sample.value)
    }
    assert ours == expected


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


def is_refused(text: str) -> bool:
    try:
        families_of(text.encode(), "mutated")
    except DataQualityError:
        return True
    return False


def is_refused_by_prometheus(text: str) -> bool:
    try:
        theirs(text)
    except ValueError:
        return True
    except (AttributeError, LookupError):
        # a fault of its own, which says nothing of the text
        return False
    return False


def test_what_prometheus_own_parser_refuses_is_refused() -> None:
    refused = [text for text in mutations(EVERYTHING, 600) if is_refused_by_prometheus(text)]
    assert len(refused) > 150
    assert [text for text in refused if not is_refused(text)] == []


HISTOGRAM = "# TYPE h histogram\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a 1\n", ":1: .*the last line must be # EOF"),
        ("", ":1: .*the last line must be # EOF"),
        ("a 1\n# EOF\nb 2\n", ":3: .*nothing may follow # EOF"),
        ("a 1\n\n# EOF\n", ":2: .*a line is empty"),
        ("# comment\n# EOF\n", ":1: .*a line with # is # EOF"),
        ("# TYPE 1a gauge\n# EOF\n", ":1: .*'1a' is no name of a metric"),
        ("# TYPE a guage\n# EOF\n", ":1: .*the type of a must be one of unknown, gauge"),
        ("# TYPE a gauge\n# TYPE a gauge\n# EOF\n", ":2: .*TYPE of a is there twice"),
        ("a 1\n# HELP a late\n# EOF\n", ":2: .*HELP of a must stand before its samples"),
        ("# UNIT a seconds\n# EOF\n", ":1: .*a must end with its unit, _seconds"),
        ("# TYPE a_seconds info\n# UNIT a_seconds seconds\n# EOF\n", "of the type info can have no unit"),
        ("a 1\nb 1\na 2\n# EOF\n", ":3: .*a belongs to a family that ended before"),
        ("# TYPE a counter\na_total 1\n# TYPE a_total gauge\n# EOF\n", ":3: .*a_total belongs to a family"),
        ("# TYPE b_total gauge\n# TYPE b counter\n# EOF\n", "b_total of the family b belongs to another family too"),
        (" a 1\n# EOF\n", ":1: .*it begins with no name"),
        ("a  1\n# EOF\n", ":1: .*'' is no number"),
        ("a 1 2 3\n# EOF\n", ":1: .*there may be one timestamp"),
        ("a{b=c} 1\n# EOF\n", r':1: .*a label must be name="text"'),
        ('a{b="c" c="d"} 1\n# EOF\n', ":1: .*labels must be parted by commas"),
        ('a{b="c",b="d"} 1\n# EOF\n', ":1: .*the label b is there twice"),
        ('a{b="c"}1\n# EOF\n', ":1: .*one space must follow a"),
        ("a 0x1\n# EOF\n", ":1: .*'0x1' is no number"),
        ("a 1 NaN\n# EOF\n", ":1: .*'NaN' is no timestamp"),
        ("a 1\na 2\n# EOF\n", "a with the same labels is there twice"),
        ("a 1 2\na 2 2\n# EOF\n", "the timestamps of a do not increase"),
        ("a 1 2\na 2\n# EOF\n", "have all a timestamp, or none"),
        ('a{b="1"} 1 1\na{b="2"} 1 1\na{b="1"} 1 2\n# EOF\n', "must stand together"),
        ("# TYPE a counter\na_total -1\n# EOF\n", ":2: .*a_total cannot be -1"),
        ("# TYPE a counter\na_total NaN\n# EOF\n", ":2: .*a_total cannot be nan"),
        ('a 1 # {b="c"} 1\n# EOF\n', ":1: .*can have no exemplar"),
        ("# TYPE a counter\na_total 1 # b 1\n# EOF\n", ":2: .*an exemplar must begin with labels"),
        ('# TYPE a counter\na_total 1 # {b="c"}\n# EOF\n', ":2: .*an exemplar needs a value"),
        (f'# TYPE a counter\na_total 1 # {{b="{"c" * 128}"}} 1\n# EOF\n', ":2: .*are longer than 128 letters"),
        ("# TYPE a info\na_info 2\n# EOF\n", ":2: .*a_info of an info must be 1"),
        ('# TYPE a stateset\na{a="on"} 2\n# EOF\n', ":2: .*the value 0 or 1"),
        ('# TYPE a summary\na{quantile="2"} 1\n# EOF\n', ":2: .*must be 0 to 1, not 2"),
        ('# TYPE a summary\na{quantile="0.5"} -1\n# EOF\n', ":2: .*a quantile of a cannot be -1"),
        ("# TYPE a summary\na 1\n# EOF\n", ":2: .*a of a summary needs the label quantile"),
        (HISTOGRAM + 'h_bucket{le="a"} 1\n# EOF\n', ":2: .*the label le of h_bucket must be a number"),
        (HISTOGRAM + 'h_bucket{le="1"} 1.5\n# EOF\n', ":2: .*h_bucket must be a whole number"),
        (HISTOGRAM + 'h_bucket{le="1"} 1\n# EOF\n', 'the last with le="\\+Inf"'),
        (HISTOGRAM + 'h_bucket{le="1"} 2\nh_bucket{le="+Inf"} 1\n# EOF\n', "buckets of h are cumulative"),
        (HISTOGRAM + 'h_bucket{le="+Inf"} 1\nh_count 1\n# EOF\n', "h_count and h_sum come together"),
        (HISTOGRAM + 'h_bucket{le="+Inf"} 1\nh_count 2\nh_sum 1\n# EOF\n', "h_count is 2, but its last bucket 1"),
        ('# TYPE g gaugehistogram\ng_bucket{le="+Inf"} 1\ng_gcount 1\ng_gsum -1\n# EOF\n', "g_gsum cannot be below 0"),
    ],
)
def test_what_the_specification_forbids_is_refused_with_its_line(text: str, message: str) -> None:
    with pytest.raises(DataQualityError, match=message):
        families_of(text.encode(), "x.om")


def test_what_is_no_text_and_no_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataQualityError, match=r"x.om:2: .*no UTF-8"):
        families_of(b"a 1\nb\xff 1\n# EOF\n", "x.om")
    with pytest.raises(UsageError, match="cannot be read"):
        read_openmetrics(tmp_path)


def imported(tmp_path: Path, path: Path, *more: str) -> tuple[Entry, ...]:
    assert run(["import", "openmetrics", str(path), "--history", str(tmp_path / "history"), *more]) == 0
    return load(tmp_path / "history").entries()


def test_numbers_come_into_a_history_by_their_labels(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    more = ["--started", "2026-01-01T01:00:00+01:00", "--lower", "time_*", "--unit", "time_*_p*=ms"]
    (entry,) = imported(tmp_path, DATA / "serving.om", *more, "--run", "night-1")
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
    told = capsys.readouterr().err
    assert "of request_duration_seconds only count and mean are KPIs" in told
    assert "phase: states are no KPIs" in told
    assert "1 samples are not finite: left out" in told


def test_a_dump_needs_to_know_which_moment_counts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["import", "openmetrics", str(DATA / "dump.om"), "--history", str(tmp_path / "history")]
    assert run(arguments) == 2
    assert "node_load has 3 moments; say by --statistic" in capsys.readouterr().err
    first, second = imported(tmp_path, DATA / "dump.om", "--statistic", "max", "--fact", "node")
    assert (first.kpis["node_load"].number, second.kpis["node_load"].number) == (1.5, 0.75)
    assert (first.keys, first.recording, second.recording) == ({}, "node=w-1", "node=w-2")


def test_our_own_kpis_come_back_as_they_were(small_run: Path, tmp_path: Path) -> None:
    assert run(["kpi", str(small_run), "--output", str(tmp_path / "kpis")]) == 0
    (entry,) = imported(tmp_path, tmp_path / "kpis" / "kpis.prom")
    (analysis,) = analyse_run(small_run, tmp_path / "report").analyses
    expected = {kpi.name: (kpi.number, kpi.unit, kpi.direction) for kpi in analysis.kpis if kpi.number is not None}
    assert {name: (kpi.number, kpi.unit, kpi.direction) for name, kpi in entry.kpis.items()} == expected
    assert len(expected) > 30
    assert (entry.run, entry.recording, entry.facts["flow"]) == (small_run.name, analysis.place.name, "scale_test")


@pytest.mark.parametrize(
    ("text", "arguments", "code", "message"),
    [
        ("a 1\n# EOF\n", (), 2, "does not tell when it was: it has no timestamps; give --started"),
        ("a 1\n# EOF\n", ("--started", "noon"), 2, "--started noon: it must be such as"),
        ("# TYPE a info\n# EOF\n", (), 5, "holds no number that can be a KPI"),
        ("a_b 1 1\na:b 1 1\n# EOF\n", (), 5, "several metrics would be the KPI a_b of all; rename one"),
    ],
)
def test_what_cannot_be_kept_is_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, arguments: tuple[str, ...], code: int, message: str
) -> None:
    path = tmp_path / "x.om"
    path.write_text(text)
    assert run(["import", "openmetrics", str(path), "--history", str(tmp_path / "history"), *arguments]) == code
    assert message in capsys.readouterr().err
    assert not (tmp_path / "history").exists()
