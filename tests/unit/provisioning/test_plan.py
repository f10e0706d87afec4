"""The clusters that a run creates, uses and destroys."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.provisioning.plan import created, missing, plan
from ansible_collections.psap.perf.plugins.module_utils.provisioning.record import (
    CREATED,
    CREATING,
    DESTROYED,
    ClusterRecord,
    new_record,
)

NOTHING = {"sutest": "existing", "driver": "existing"}


def _arguments(method: str) -> frozenset[str]:
    return frozenset(
        ("host", "record", "prefix", "pool") if method == "hive" else ("host", "record", "prefix", "region")
    )


def _record(host: str, method: str, phase: str, keep: bool = False) -> ClusterRecord:
    return replace(new_record("a-run", host, method), phase=phase, keep=keep)


def test_site_with_existing_clusters_creates_none() -> None:
    assert plan(NOTHING, {"driver": {}}, [], _arguments) == []


def test_each_host_has_its_method_and_arguments() -> None:
    creations = plan({"sutest": "ocp", "driver": "hive"}, {"driver": {"pool": "small"}}, [], _arguments)
    assert [(each.host, each.method, each.arguments) for each in creations] == [
        ("sutest", "ocp", {}),
        ("driver", "hive", {"pool": "small"}),
    ]
    assert missing(creations) == ["sutest", "driver"]


@pytest.mark.parametrize("argument", ["region", "record", "host"])
def test_reserved_argument_is_refused(argument: str) -> None:
    with pytest.raises(UsageError, match=f"cluster_create_hive has no such argument to set: {argument}"):
        plan({"driver": "hive"}, {"driver": {argument: "x"}}, [], _arguments)


def test_arguments_without_a_created_cluster_are_refused() -> None:
    with pytest.raises(UsageError, match="no cluster is created for driver"):
        plan(NOTHING, {"driver": {"pool": "small"}}, [], _arguments)


def test_recorded_cluster_is_destroyed_despite_other_settings() -> None:
    records = [_record("sutest", "hive", CREATING), _record("driver", "osd", DESTROYED)]
    creations = plan({}, {}, records, _arguments)
    assert [(each.host, each.phase) for each in creations] == [("sutest", CREATING)]
    assert created(records) == {}


def test_host_has_one_cluster_at_a_time() -> None:
    with pytest.raises(UsageError, match="was created by hive, but the settings have ocp: destroy it first"):
        plan({"sutest": "ocp"}, {}, [_record("sutest", "hive", CREATED)], _arguments)


@pytest.mark.parametrize(("phase", "kept"), [(CREATED, True), (CREATING, False)])
def test_only_a_complete_cluster_can_be_kept(phase: str, kept: bool) -> None:
    (creation,) = plan({"sutest": "hive"}, {}, [_record("sutest", "hive", phase, keep=True)], _arguments)
    assert creation.kept is kept
