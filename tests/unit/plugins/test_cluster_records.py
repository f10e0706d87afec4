"""The records of clusters, and the verbs that destroy the cluster of a record."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.provisioning.record import (
    CREATED,
    CREATING,
    DESTROYED,
    ClusterRecord,
    new_record,
    read_record,
    write_record,
)
from ansible_collections.psap.perf.plugins.module_utils.secrets.leaks import Redactor
from ansible_collections.psap.perf.plugins.plugin_utils.cluster_records import DestroyAction, existing
from ansible_collections.psap.perf.plugins.plugin_utils.verb import VerbContext, VerbResult


class _Destroy(DestroyAction):
    def destroy(self, context: VerbContext, record: ClusterRecord) -> None:
        Path(record.folder).rename(context.run_directory / "destroyed")


def _written(run: Path, phase: str) -> Path:
    path = run / "sutest.json"
    write_record(path, replace(new_record("run-1", "sutest", "hive", folder=str(run / "clusters")), phase=phase))
    return path


def _destroy(run: Path, path: Path, *, check_mode: bool = False) -> VerbResult:
    context = VerbContext(
        args={"record": str(path), "host": "sutest"},
        check_mode=check_mode,
        diff_mode=False,
        host="sutest",
        roles=(),
        variables={},
        run="run-1",
        run_directory=run,
        interrupted=threading.Event(),
        finalizing=False,
        redactor=Redactor([]),
    )
    return object.__new__(_Destroy).perform(context)


def test_destruction_ends_the_record_and_its_folder(tmp_path: Path) -> None:
    path = _written(tmp_path, CREATED)
    assert _destroy(tmp_path, path, check_mode=True).changed
    assert not (tmp_path / "destroyed").exists()
    result, record = _destroy(tmp_path, path), read_record(path)
    assert record is not None
    assert (result.changed, record.phase, Path(record.folder).exists()) == (True, DESTROYED, False)
    assert (result.values["record"], result.values["cluster"]["phase"]) == (str(path), DESTROYED)
    assert (tmp_path / "destroyed").exists()


def test_destruction_without_a_cluster_changes_nothing(tmp_path: Path) -> None:
    missing = _destroy(tmp_path, tmp_path / "missing.json")
    assert (missing.changed, missing.skipped, missing.values["cluster"]) == (False, "no cluster is recorded", {})
    left = tmp_path / "clusters/run-1/sutest/kubeconfig"
    left.parent.mkdir(parents=True)
    left.touch()
    path = _written(tmp_path, DESTROYED)
    assert not _destroy(tmp_path, path, check_mode=True).changed
    assert left.exists()
    assert not _destroy(tmp_path, path).changed
    assert not left.parent.exists()


def test_record_of_another_method_is_refused_until_destroyed(tmp_path: Path) -> None:
    path = _written(tmp_path, CREATING)
    assert existing(path, "hive") == read_record(path)
    with pytest.raises(UsageError, match="created by hive, not by ocp"):
        existing(path, "ocp")
    _written(tmp_path, DESTROYED)
    assert existing(path, "ocp") is None
