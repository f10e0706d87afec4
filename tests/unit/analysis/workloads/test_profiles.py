"""Profiles in pprof's format: costs computed by hand, damaged files, KPIs and the report's tables."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from perfanalysis.files.cache import scratch_folder
from perfanalysis.workloads.profiles.pprof import FunctionCost, _profile_type, read_profile
from perfanalysis.workloads.run_analysis import AnalysisOptions, analyse_run

from tests.data.synthetic_runs import write_json

SECOND = 1_000_000_000


def profile(kind: str = "cpu", unit: str = "nanoseconds", scale: int = SECOND) -> bytes:
    """Return a profile: `main` calls `work`, into which `inner` is inlined, and `main` calls itself."""
    texts = ["", "samples", "count", kind, unit, "main", "work", "inner"]
    found: Any = _profile_type()()
    found.string_table.extend(texts)
    for what in ((1, 2), (3, 4)):
        found.sample_type.add(type=what[0], unit=what[1])
    for number in (1, 2, 3):
        found.function.add(id=number, name=4 + number)
    found.location.add(id=10).line.add(function_id=1)
    location = found.location.add(id=11)
    location.line.add(function_id=3)
    location.line.add(function_id=2)
    for stack, value in (([11, 10], 3), ([10, 10], 1)):
        found.sample.add(location_id=stack, value=[1, value * scale])
    found.duration_nanos = 8 * SECOND
    content: bytes = gzip.compress(found.SerializeToString(), mtime=0)
    return content


def test_costs_are_of_the_innermost_function_and_of_its_callers_once() -> None:
    read = read_profile(profile())
    assert (read.what, read.unit, read.total, read.samples, read.duration_s) == ("cpu", "nanoseconds", 4 * SECOND, 2, 8)
    assert read.functions == (
        FunctionCost("inner", 3 * SECOND, 3 * SECOND),
        FunctionCost("main", SECOND, 4 * SECOND),
        FunctionCost("work", 0, 3 * SECOND),
    )


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"<html>", "not a profile in the format of pprof"),
        (b"", "has no type of values"),
        (profile()[:40], "incomplete gzip data"),
        (b"\x1f\x8bnothing", "damaged gzip data"),
    ],
)
def test_damaged_profile_is_refused(content: bytes, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        read_profile(content)


def write_profiles(root: Path) -> Path:
    """Return a run with a CPU profile, a heap profile, a damaged one and a missing one."""
    run = root / "toolbox-20261120T093000Z-5f3a1c"
    place = run / "001__cluster__capture_profiles" / "artifacts"
    (place / "profiles").mkdir(parents=True)
    write_json(run / "run.json", {"schema": "psap.perf/run/1", "id": run.name, "status": "ok"})
    times = {"begin_s": 1_790_000_000.0, "end_s": 1_790_000_008.0}
    rows = []
    for name, content in (
        ("cpu", profile()),
        ("heap", profile("inuse_space", "bytes", 1_000_000)),
        ("block", b"\x1f\x8bnothing"),
    ):
        (place / "profiles" / f"apiserver_{name}.pb.gz").write_bytes(content)
        rows.append(
            {"component": "apiserver", "profile": name, "pod": None, "file": f"profiles/apiserver_{name}.pb.gz"}
        )
    rows.append({"component": "kueue", "profile": "cpu", "pod": "k-1", "error": "responds with 404"})
    document = {"schema": "psap.perf/profiles/1", "lab": None, "profiles": [{**times, **row} for row in rows]}
    (place / "profiles.json").write_text(json.dumps(document))
    return run


def test_profiles_of_a_run_have_kpis_and_top_functions(tmp_path: Path) -> None:
    with scratch_folder() as tables:
        result = analyse_run(write_profiles(tmp_path), tables, AnalysisOptions())
        (analysis,) = result.analyses
        functions = analysis.frames["profiles_functions"]
        profiles = analysis.frames["profiles_profiles"]
    known = {kpi.series: kpi.number for kpi in analysis.kpis if kpi.number is not None}
    assert known == {'profiled_cpu{component="apiserver"}': 4.0, 'profiled_heap{component="apiserver"}': 4e6}
    cpu = functions[functions["profile"] == "cpu"]
    assert list(cpu["function"]) == ["inner", "main"]
    assert list(cpu["own"]) == ["3.00\u202fs", "1.00\u202fs"]
    assert list(cpu["own_ratio"]) == [0.75, 0.25]
    assert list(cpu["total_ratio"]) == [0.75, 1.0]
    assert list(profiles["error"].dropna()) == ["responds with 404"]
    assert profiles["cores"].dropna().tolist() == [0.5]
    errors = [finding for finding in result.findings if finding.severity == "error"]
    assert [error.text for error in errors] == ["damaged gzip data"]
