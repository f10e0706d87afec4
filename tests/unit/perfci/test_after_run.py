"""What perfdrv's hook does after a run: exports and notifications, by the settings that the run recorded."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.documents import write_yaml
from ansible_collections.psap.perf.plugins.module_utils.run.directory import begin_attempt, end_attempt
from perfci.after_run import export_and_notify
from perfdrv.execution.after_run import EndedRun


def ended_run(folder: Path, **settings: object) -> Path:
    """Return a successful run with these settings."""
    run = folder / "demo-20260101T000000Z-abcdef"
    run.mkdir()
    begin_attempt(run, {"flow": "demo"})
    values = {name: {"value": value} for name, value in settings.items()}
    write_yaml(run / "settings.yml", {"schema": "psap.perf/settings/1", "all": values, "hosts": {}})
    end_attempt(run, "ok", 0, None)
    return run


@pytest.mark.parametrize("finalized", [False, True])
def test_failed_export_fails_and_notifications_are_sent_unless_finalized(
    finalized: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = ended_run(tmp_path, export_to="no/store", notify_slack_channel="C1", notify_dry_run=True)
    assert export_and_notify(EndedRun(run, 0, finalized)) == 1
    printed = capsys.readouterr().out
    assert "export  failed: " in printed
    assert ("notify  slack, C1 (dry run)" in printed) is not finalized


def test_run_without_a_destination_is_ok(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert export_and_notify(EndedRun(ended_run(tmp_path), 0)) == 0
    assert capsys.readouterr().out == ""


def test_failed_export_to_mlflow_fails_and_names_the_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "mlflow.tracking", None)
    run = ended_run(tmp_path, export_mlflow="https://mlflow.example.com")
    assert export_and_notify(EndedRun(run, 0)) == 1
    printed = capsys.readouterr().out
    assert printed.startswith("mlflow  failed: MLflow's client is not installed: run pip install 'psap-perf[mlflow]'; ")
    assert printed.endswith(f"try again with: perfdrv export {run}\n")
