"""`lab.json`, names and locks."""

from __future__ import annotations

import fcntl
import json
from pathlib import Path

import pytest
from perflab.errors import ClusterError, UsageError
from perflab.files import places
from perflab.processes import state
from perflab.processes.process import Identity
from perflab.processes.program import Program
from perflab.processes.state import Lab, Options
from perflab.profiles import STANDARD

from tests.schemas import check_file


def a_lab(home: Path) -> Lab:
    (home / "one").mkdir(parents=True)
    return Lab(
        home / "one",
        Options(nodes=3, gpu_product="NVIDIA-A100"),
        state="running",
        started="2026-01-01T00:00:00.000Z",
        ports={"kube-apiserver": 6443},
        pids={"etcd": Identity(2**22 + 1, 7)},
        programs={"etcd": Program("etcd", ("bin/etcd", "--name=lab"), None, {"ETCD_NAME": "lab"})},
        versions={"etcd": "v3"},
    )


def test_lab_round_trips(tmp_path: Path) -> None:
    lab = a_lab(tmp_path)
    lab.write()
    assert state.read_lab(tmp_path, "one") == lab
    assert (tmp_path / "one" / "lab.json").stat().st_mode & 0o777 == 0o600


def test_document_follows_the_contract(tmp_path: Path) -> None:
    document = a_lab(tmp_path).document()
    assert document["schema"] == "psap.perf/lab/1"
    assert document["simulated"] == ["nodes", "pods"]
    assert document["emulated"] == list(STANDARD)
    assert document["pids"]["etcd"] == {"pid": 2**22 + 1, "start_time": 7}
    assert document["gpus_per_node"] == 8


def test_lab_json_follows_its_schema_from_the_start(tmp_path: Path) -> None:
    running = a_lab(tmp_path)
    for lab in (Lab(running.folder, Options(emulate=("runai",), products=("kueue",))), running):
        lab.write()
        assert check_file(lab.folder / "lab.json") == "psap.perf/lab/1"


def test_lab_with_a_product_of_another_version_is_read(tmp_path: Path) -> None:
    lab = a_lab(tmp_path)
    document = {**lab.document(), "products": ["kueue", "from-the-future"]}
    (lab.folder / "lab.json").write_text(json.dumps(document))
    found = state.read_lab(tmp_path, "one")
    assert found is not None
    assert found.options.products == ("kueue",)
    found.write()


@pytest.mark.parametrize("contents", ["", "{", "[]", '{"schema": "psap.perf/lab/9"}'])
def test_unreadable_file_is_no_lab(tmp_path: Path, contents: str) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "lab.json").write_text(contents)
    assert state.read_lab(tmp_path, "one") is None


@pytest.mark.parametrize("name", ["", "..", "a/b", "A", "-a", "a" * 41, "a b"])
def test_invalid_names_are_refused(name: str) -> None:
    with pytest.raises(UsageError, match="invalid name of a lab"):
        state.check_name(name)


def test_dead_component_makes_the_lab_unusable(tmp_path: Path) -> None:
    a_lab(tmp_path).write()
    with pytest.raises(ClusterError, match=r"etcd died.*perflab up --name one"):
        state.get_running(tmp_path, "one")


def test_unknown_lab_is_an_error_with_a_remedy(tmp_path: Path) -> None:
    with pytest.raises(ClusterError, match="perflab up --name two"):
        state.get_running(tmp_path, "two")


def test_commands_on_a_lab_are_serialized(tmp_path: Path) -> None:
    with state.only_one(tmp_path, "one", print):
        assert state.is_locked(tmp_path, "one")
        assert not state.is_locked(tmp_path, "two")
        with (tmp_path / ".one.lock").open() as other, pytest.raises(BlockingIOError):
            fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
    assert not state.is_locked(tmp_path, "one")


def test_home_follows_the_environment(tmp_path: Path) -> None:
    assert places.home({"PERFLAB_HOME": str(tmp_path / "h")}) == tmp_path / "h"
    assert places.home({"XDG_STATE_HOME": str(tmp_path)}) == tmp_path / "perflab"
    assert places.home({"XDG_STATE_HOME": "relative"}).is_relative_to(Path.home())
    assert places.cache_root({"XDG_CACHE_HOME": str(tmp_path)}) == tmp_path / "perflab"
