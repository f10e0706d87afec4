"""Traces of arrivals: the values of a row, and errors with the line."""

from __future__ import annotations

from pathlib import Path

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads.arrivals import ArrivalSettings
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads.trace import Trace, TraceRow, read_trace


def trace(folder: Path, text: str) -> Trace:
    path = folder / "trace.csv"
    path.write_text(text)
    return read_trace(path)


def test_row_has_time_and_workload(tmp_path: Path) -> None:
    rows = trace(tmp_path, "time_s,kind,gpus,duration\n0,Job,1,30s\n0.25,PyTorchJob,8,5m\n1.5,,,\n").rows
    assert rows == (TraceRow(0, "Job", 1, 30), TraceRow(0.25, "PyTorchJob", 8, 300), TraceRow(1.5))


def test_columns_are_optional_and_in_any_order(tmp_path: Path) -> None:
    assert trace(tmp_path, "gpus,time_s\r\n0,2\r\n").rows == (TraceRow(2, gpus=0),)


def test_trace_is_an_arrival_pattern(tmp_path: Path) -> None:
    read = trace(tmp_path, "time_s\n0\n0.5\n0.5\n4\n")
    settings = ArrivalSettings(trace=read)
    arrivals = settings.arrivals(3, 8)
    assert [arrivals.due_s(position) for position in range(3)] == [0, 0.5, 0.5]
    with pytest.raises(UsageError, match=r"trace.csv has 4 workloads, but 5 are needed"):
        settings.arrivals(5, 8)
    with pytest.raises(UsageError, match="rate and trace are both set"):
        ArrivalSettings(rate=1.0, trace=read)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"trace.csv:1: the header is ; it must have time_s"),
        ("kind\nJob\n", r"trace.csv:1: the header is kind; it must have time_s"),
        ("time_s,gpu\n0,1\n", r"trace.csv:1: the header is time_s,gpu"),
        ("time_s,time_s\n0,1\n", r"trace.csv:1: the header is time_s,time_s"),
        ("time_s\n", r"trace.csv: the trace has no rows"),
        ("time_s\n0\nsoon\n", r"trace.csv:3: time_s is 'soon'"),
        ("time_s\n-1\n", r"trace.csv:2: time_s is '-1'"),
        ("time_s\nnan\n", r"trace.csv:2: time_s is 'nan'"),
        ("time_s\ninf\n", r"trace.csv:2: time_s is 'inf'"),
        ("time_s\n2\n1\n", r"trace.csv:3: time_s is 1, earlier than in the row above"),
        ("time_s,gpus\n0,1.5\n", r"trace.csv:2: gpus is '1.5'"),
        ("time_s,gpus\n0,-1\n", r"trace.csv:2: gpus is '-1'"),
        ("time_s,duration\n0,long\n", r"trace.csv:2: 'long' is not a duration"),
        ("time_s,gpus\n0\n", r"trace.csv:2: the row has more or fewer fields"),
        ("time_s\n0,1\n", r"trace.csv:2: the row has more or fewer fields"),
        ('time_s\n"0\n', r"trace.csv:2: unexpected end of data"),
    ],
)
def test_invalid_trace_is_reported_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        trace(tmp_path, text)


def test_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"trace .*missing.csv cannot be read"):
        read_trace(tmp_path / "missing.csv")
