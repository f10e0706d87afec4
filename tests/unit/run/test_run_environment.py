"""A process's data about its run."""

from __future__ import annotations

from pathlib import Path

import pytest
from ansible_collections.psap.perf.plugins.module_utils.run.environment import RunEnvironment


@pytest.mark.parametrize("parent", [None, "scale_test-1"])
def test_process_of_one_cell_knows_the_complete_run(
    parent: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = tmp_path / "scale_test-1"
    monkeypatch.setenv("PERF_RUN_DIR", str(run / "003__cell__0" if parent else run))
    monkeypatch.setenv("PERF_RUN_PARENT", parent or "")
    environment = RunEnvironment.read()
    assert (environment.run, environment.root) == ("scale_test-1", run)
