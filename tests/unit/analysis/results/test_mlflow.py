"""Export to MLflow: what a run contains, repeated and concurrent exports, and refusals; the client is of the test."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from perfanalysis.__main__ import run
from perfanalysis.results.history.folder import add
from perfanalysis.results.mlflow.connection import StoredRun, Tracking, Values
from perfanalysis.results.mlflow.exporting import COMPLETE, PARENT, RUN, Exported, export, part_of

from tests.unit.analysis.histories import document, kpi

TRACKING = Tracking("http://127.0.0.1:9")


@dataclass
class KeptRun:
    """A run in the memory of the client."""

    experiment: str
    name: str
    tags: dict[str, str]
    metrics: dict[str, float] = field(default_factory=dict)
    params: dict[str, str] = field(default_factory=dict)
    status: str = "RUNNING"


class MemoryClient:
    """A client that keeps runs in memory; `on_finish` is called once, when the first run ends."""

    def __init__(self, on_finish: Callable[[], object] | None = None, fail_after: int = 1000) -> None:
        self.runs: dict[str, KeptRun] = {}
        self._count = 0
        self._on_finish = on_finish
        self._left = fail_after

    def experiment(self, name: str) -> str:
        """Return the name as its ID."""
        return name

    def find(self, experiment: str, tag: str, value: str) -> tuple[StoredRun, ...]:
        """Return the runs with that tag."""
        found = {key: each for key, each in self.runs.items() if each.experiment == experiment}
        return tuple(StoredRun(key, dict(each.tags)) for key, each in found.items() if each.tags.get(tag) == value)

    def create(self, experiment: str, name: str, started_ms: int, tags: Mapping[str, str]) -> str:
        """Create a run; IDs descend, so that a later run has the lowest one."""
        self._count += 1
        identity = f"{1000 - self._count}"
        self.runs[identity] = KeptRun(experiment, name, dict(tags))
        return identity

    def log(self, run: str, values: Values, at_ms: int) -> None:
        """Store values; fail like a connection that breaks."""
        self._left -= 1
        if self._left < 0:
            raise ConnectionResetError
        assert len(values.metrics) <= 1000
        assert len(values.params) <= 100
        assert len(values.tags) <= 100
        kept = self.runs[run]
        assert all(kept.params.get(name, value) == value for name, value in values.params.items()), "immutable"
        kept.metrics.update(values.metrics)
        kept.params.update(values.params)
        kept.tags.update(values.tags)

    def finish(self, run: str, status: str, ended_ms: int) -> None:
        """End a run."""
        self.runs[run].status = status
        hook, self._on_finish = self._on_finish, None
        if hook is not None:
            hook()

    def delete(self, run: str) -> None:
        """Delete a run."""
        del self.runs[run]


def two_recordings() -> dict[str, object]:
    """Return a document with two recordings."""
    one = document(1, [kpi("wait", 1.5)])
    other = {**one["recordings"][0], "recording": "002__other", "kpis": [kpi("wait", 2.5)]}
    return {**one, "recordings": [one["recordings"][0], other]}


def test_run_with_one_recording_is_one_run_with_metrics_and_keys() -> None:
    client = MemoryClient()
    labelled = {**kpi("waiting", 2.0), "labels": {"tenant": "a b"}}
    facts = {"cluster.version": "4.20", "setting.scale_test_rate": 40, **{f"setting.s{n}": n for n in range(150)}}
    assert export(client, TRACKING, [document(3, [kpi("wait", 1.5), labelled], facts=facts)]) == Exported(1, 0)
    [kept] = client.runs.values()
    assert (kept.experiment, kept.name, kept.status) == ("psap-perf/scale_test", "run-003", "FINISHED")
    assert kept.metrics == {"wait": 1.5, "waiting/tenant:a b": 2.0}
    assert kept.params["scale_test_rate"] == "40"
    assert kept.params["scale_test_count"] == "100"
    assert len(kept.params) == 152
    assert kept.tags["cluster.version"] == "4.20"
    assert "| wait | seconds | lower |" in kept.tags["mlflow.note.content"]


def test_recordings_of_a_run_are_below_it() -> None:
    client = MemoryClient()
    export(client, TRACKING, [{**two_recordings(), "status": "failed"}])
    [top] = [identity for identity, each in client.runs.items() if RUN in each.tags]
    below = [each for each in client.runs.values() if each.tags.get(PARENT) == top]
    assert [each.metrics for each in below] == [{"wait": 1.5}, {"wait": 2.5}]
    assert {each.status for each in client.runs.values()} == {"FAILED"}
    assert part_of(two_recordings()).metrics == {}


def test_second_export_changes_nothing_and_a_newer_analysis_replaces() -> None:
    client = MemoryClient()
    assert export(client, TRACKING, [two_recordings()]) == Exported(1, 0)
    first = dict(client.runs)
    assert export(client, TRACKING, [two_recordings()]) == Exported(0, 1)
    assert client.runs == first
    assert export(client, TRACKING, [{**two_recordings(), "analysis": "2.0.0"}]) == Exported(1, 0)
    assert len(client.runs) == 3
    assert not first.keys() & client.runs.keys()


@pytest.mark.parametrize("after", range(6))
def test_interrupted_export_is_completed(after: int) -> None:
    client = MemoryClient(fail_after=after)
    with pytest.raises(ConnectionResetError):
        export(client, TRACKING, [two_recordings()])
    client._left = 1000
    assert export(client, TRACKING, [two_recordings()]) == Exported(1, 0)
    assert len(client.runs) == 3
    assert sum(COMPLETE in each.tags for each in client.runs.values()) == 1


def test_concurrent_exports_leave_one_run() -> None:
    client = MemoryClient()
    client._on_finish = lambda: export(client, TRACKING, [document(1, [kpi("wait", 1.0)])])
    export(client, TRACKING, [document(1, [kpi("wait", 1.0)])])
    assert len(client.runs) == 1
    [kept] = client.runs.values()
    assert kept.metrics == {"wait": 1.0}


@pytest.mark.parametrize(
    ("url", "variable", "sentence"),
    [
        ("mlflow.example.com", "", "mlflow.example.com is not the address of an MLflow"),
        ("https://a:b@mlflow.example.com", "", "remove the credentials from the address of mlflow.example.com"),
        ("http://mlflow.example.com", "MLFLOW_TRACKING_TOKEN", "would receive MLFLOW_TRACKING_TOKEN in plain text"),
    ],
)
def test_address_that_is_invalid_or_leaks_is_refused(
    url: str,
    variable: str,
    sentence: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    add(tmp_path / "history", document(1, [kpi("wait", 1.0)]))
    if variable:
        monkeypatch.setenv(variable, "s3cr3t-value")
    assert run(["history", "mlflow", str(tmp_path / "history"), "--to", url]) == 2
    error = capsys.readouterr().err
    assert sentence in error
    assert "s3cr3t-value" not in error
    assert "a:b" not in error


def test_missing_client_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    add(tmp_path / "history", document(1, [kpi("wait", 1.0)]))
    monkeypatch.setitem(sys.modules, "mlflow.tracking", None)
    assert run(["history", "mlflow", str(tmp_path / "history"), "--to", "http://127.0.0.1:9"]) == 2
    assert "run pip install 'psap-perf[mlflow]'" in capsys.readouterr().err
