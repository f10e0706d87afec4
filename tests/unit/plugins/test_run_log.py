"""How a run ends, by the events that the callback logs."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.psap.perf.plugins.module_utils.run.directory import read_run
from ansible_collections.psap.perf.plugins.module_utils.run.environment import RunEnvironment
from ansible_collections.psap.perf.plugins.module_utils.run.failures import Failure
from ansible_collections.psap.perf.plugins.plugin_utils import run_log

FAILURE = Failure("2026-01-01T00:00:00.000Z", 1, "sutest", None, "Submit", "x.yml:1", "no", 5, "", None)


def begin_log(directory: Path) -> run_log.RunLog:
    """Return the log of a run that begins."""
    environment = RunEnvironment(
        directory=directory, attempt=1, cell=None, parent=None, project=directory, inventory=()
    )
    return run_log.RunLog.begin(environment, {"flow": "x"})


def test_play_without_hosts_leaves_no_row(tmp_path: Path) -> None:
    log = begin_log(tmp_path)
    for name, hosts in (("Check", 1), ("Book hosts of QUADS", 0), ("Test", 1)):
        log.play_started(name)
        if not hosts:
            log.play_is_empty()
    log.ended(hosts_failed=False)
    with (tmp_path / "timeline.csv").open() as stream:
        assert [row["name"] for row in csv.DictReader(stream)] == ["Check", "Test"]


def test_failure_lost_to_a_full_disk_still_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_arguments: Any) -> None:
        raise OSError("No space left on device")

    monkeypatch.setattr(run_log, "append_failure", full)
    log = begin_log(tmp_path)
    with pytest.raises(OSError, match="No space"):
        log.failed(FAILURE)
    log.ended(hosts_failed=False)
    run = read_run(tmp_path)
    assert (run.status, run.document["exit_code"]) == ("failed", 5)
