"""The task sets of the GPU operator on the labs of the tests, whose state is restored."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.conftest import Lab, perflab
from tests.integration.task_sets import TaskSets, task_sets


@pytest.fixture(name="on_kubernetes")
def _on_kubernetes(tmp_path: Path, shared_lab: Lab) -> Iterator[TaskSets]:
    with task_sets(tmp_path, shared_lab) as sets:
        yield sets


@pytest.fixture(name="on_openshift")
def _on_openshift(tmp_path: Path, openshift_lab: Lab) -> Iterator[TaskSets]:
    with task_sets(tmp_path, openshift_lab) as sets:
        yield sets
        perflab("step", "--name", openshift_lab.name, "--clear")
        done = sets.play("cleanup_gpus", gpu_operator_remove=True)
        assert done.exit_code == 0, done.output
