"""Users' configurations of schedulers."""

from __future__ import annotations

from pathlib import Path

import pytest
from perflab.control_plane.scheduler_config import check_names, complete_scheduler_config, read_scheduler_config
from perflab.errors import UsageError

TEXT = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
clientConnection: {kubeconfig: /theirs}
leaderElection: {leaderElect: true}
profiles: [{schedulerName: packing}]
"""


def test_lab_sets_the_connection_and_no_election(tmp_path: Path) -> None:
    path = tmp_path / "scheduler.yaml"
    path.write_text(TEXT)
    assert complete_scheduler_config(read_scheduler_config(path), Path("/ours"), 5, 10) == {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "clientConnection": {"kubeconfig": "/ours", "qps": 5, "burst": 10},
        "leaderElection": {"leaderElect": False},
        "enableContentionProfiling": False,
        "profiles": [{"schedulerName": "packing"}],
    }


@pytest.mark.parametrize("text", ["", "kind: Pod", "- a", "a: [", TEXT.replace("/v1", "/v1beta3"), f"{TEXT}---\na: 1"])
def test_file_of_another_kind_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "scheduler.yaml"
    path.write_text(text)
    with pytest.raises(UsageError, match=r"scheduler configuration .*scheduler\.yaml"):
        read_scheduler_config(path)


@pytest.mark.parametrize(
    ("second", "first", "shared"),
    [
        (["packing"], [], ""),
        (["packing"], ["default-scheduler"], ""),
        (["packing", "other"], ["packing"], "packing"),
        ([], [], "default-scheduler"),
        ([""], ["packing", "default-scheduler"], "default-scheduler"),
    ],
)
def test_second_scheduler_must_have_other_names(second: list[str], first: list[str], shared: str) -> None:
    own, other = ({"profiles": [{"schedulerName": name} for name in names]} for names in (second, first))
    if not shared:
        check_names(own, other, Path("two.yaml"))
        return
    with pytest.raises(UsageError, match=rf"two\.yaml has the name {shared} of the first one"):
        check_names(own, other, Path("two.yaml"))
