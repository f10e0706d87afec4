"""The same load by two schedulers of a lab: one spreads the pods, the other packs them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from .conftest import Lab, Submission, running_lab

pytestmark = [pytest.mark.lab, pytest.mark.deep]

CONFIGURATION = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
  - schedulerName: NAME
    plugins:
      # only the strategy decides
      multiPoint: {disabled: [{name: ImageLocality}, {name: NodeResourcesBalancedAllocation}]}
    pluginConfig:
      - name: NodeResourcesFit
        args:
          scoringStrategy: {type: STRATEGY, resources: [{name: nvidia.com/gpu, weight: 1}]}
"""


@pytest.fixture(name="schedulers", scope="module")
def _schedulers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    folder = tmp_path_factory.mktemp("schedulers")
    options: list[str] = []
    for option, name, strategy in (
        ("--scheduler-config", "default-scheduler", "LeastAllocated"),
        ("--second-scheduler", "packing", "MostAllocated"),
    ):
        path = folder / f"{name}.yaml"
        path.write_text(CONFIGURATION.replace("NAME", name).replace("STRATEGY", strategy))
        options += [option, str(path)]
    with running_lab(f"schedulers-{os.getpid()}", *options) as lab:
        yield lab


def nodes_used(lab: Lab, folder: Path, scheduler: str) -> int:
    """Return the number of nodes of eight Jobs with one GPU each, submitted one after the other."""
    folder.mkdir()
    submission = Submission(folder, lab, count=8, duration_s=20.0, rate=2.0, scheduler_name=scheduler)
    end = submission.submit()
    assert end.accounting.completed == 8
    rows = submission.rows("transitions")
    return len({row["node"] for row in rows if row["kind"] == "Pod" and row["transition"] == "scheduled"})


def test_same_load_is_spread_by_one_scheduler_and_packed_by_the_other(schedulers: Lab, tmp_path: Path) -> None:
    spread = nodes_used(schedulers, tmp_path / "default", "default-scheduler")
    packed = nodes_used(schedulers, tmp_path / "packing", "packing")
    assert (packed, spread) == (1, 8)
