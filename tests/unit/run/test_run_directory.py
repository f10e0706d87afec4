from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import PerfError, UsageError
from ansible_collections.psap.perf.plugins.module_utils.run import directory as run_directory
from ansible_collections.psap.perf.plugins.module_utils.run.command_directory import (
    numbered_children,
    open_command,
    open_group,
)

PROJECT = Path(__file__).resolve().parents[3]


def _hold_in_another_process(directory: Path) -> subprocess.Popen[bytes]:
    script = (
        "import sys; from pathlib import Path; from perfdrv.collection import activate\n"
        f"activate(Path({str(PROJECT)!r}))\n"
        "from ansible_collections.psap.perf.plugins.module_utils.run import directory as run_directory\n"
        "run_directory.hold(Path(sys.argv[1])); print('held', flush=True); sys.stdin.read()"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script, str(directory)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"held\n"
    return process


def _begin(directory: Path) -> None:
    run_directory.begin_attempt(directory, {"flow": "x", "argv": ["ansible-playbook"]})


def test_run_name_has_flow_time_and_a_random_part(tmp_path: Path) -> None:
    directory = run_directory.new_run_directory(tmp_path / "runs", "scale_test")
    assert re.fullmatch(r"scale_test-\d{8}T\d{6}Z-[0-9a-f]{6}", directory.name)
    assert directory.is_dir()


def test_impossible_run_directory_is_one_error(tmp_path: Path) -> None:
    (tmp_path / "runs").write_text("a file")
    with pytest.raises(PerfError, match="PERF_RUNS_DIR"):
        run_directory.new_run_directory(tmp_path / "runs", "x")


def test_run_is_running_while_locked_and_interrupted_after_a_kill(tmp_path: Path) -> None:
    _begin(tmp_path)
    process = _hold_in_another_process(tmp_path)
    try:
        assert run_directory.read_run(tmp_path).status == "running"
        with pytest.raises(UsageError, match="still running"):
            run_directory.hold(tmp_path)
        process.kill()
        process.wait()
        assert run_directory.read_run(tmp_path).status == "interrupted"
    finally:
        process.kill()
        process.communicate()


def test_lock_survives_rewriting_and_reading_of_run_json(tmp_path: Path) -> None:
    _begin(tmp_path)
    run_directory.hold(tmp_path)
    try:
        run_directory.update_run(tmp_path, {"site": "lab"})
        assert run_directory.read_run(tmp_path).status == "running"
        child = os.fork()
        if child == 0:
            os._exit(0 if run_directory.read_run(tmp_path).document["site"] == "lab" else 1)
        assert os.waitpid(child, 0)[1] == 0
        other = subprocess.run(
            [sys.executable, "-c", "import fcntl,sys; fcntl.lockf(open(sys.argv[1]), fcntl.LOCK_SH | fcntl.LOCK_NB)",
             str(tmp_path / "run.lock")],
            capture_output=True, check=False,
        )  # fmt: skip
        assert other.returncode != 0
    finally:
        run_directory.release(tmp_path)
    assert run_directory.read_run(tmp_path).status == "interrupted"


def test_second_attempt_keeps_the_first_and_marks_it_interrupted(tmp_path: Path) -> None:
    _begin(tmp_path)
    first = run_directory.read_run(tmp_path).document
    _begin(tmp_path)
    run_directory.end_attempt(tmp_path, "ok", 0, None)
    document = run_directory.read_run(tmp_path).document
    assert [(attempt["number"], attempt["status"]) for attempt in document["attempts"]] == [
        (1, "interrupted"),
        (2, "ok"),
    ]
    assert document["started"] == first["started"]
    assert document["status"] == "ok"


def test_killed_attempt_ended_at_its_last_written_file(tmp_path: Path) -> None:
    _begin(tmp_path)
    for name, moment in (("run.json", 1_000), ("001__a/b/log", 2_000), ("report/index.html", 3_000)):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (moment, moment))
    _begin(tmp_path)
    killed, going_on = run_directory.read_run(tmp_path).document["attempts"]
    assert (killed["ended"], going_on["ended"]) == ("1970-01-01T00:33:20.000Z", None)


def test_attempt_removes_partial_files_of_a_killed_one(tmp_path: Path) -> None:
    _begin(tmp_path)
    step = open_command(tmp_path, None, ["prepare"], "demo_greet", 1)
    kept = [step / "artifacts" / ".hidden", step / "artifacts" / ".verdict.json.partial"]
    for path in kept:
        path.write_text("x")
    dying = (
        "import os, signal, sys; from pathlib import Path; from perfdrv.collection import activate\n"
        f"activate(Path({str(PROJECT)!r}))\n"
        "from ansible_collections.psap.perf.plugins.module_utils.base.documents import replacing\n"
        "with replacing(Path(sys.argv[1])) as stream:\n"
        "    stream.write('half'); stream.flush(); os.kill(os.getpid(), signal.SIGKILL)"
    )
    before = {path for path in tmp_path.rglob("*") if path.is_file()}
    subprocess.run([sys.executable, "-c", dying, str(step / "status.json")], check=False)
    assert len({path for path in tmp_path.rglob("*") if path.is_file()} - before) == 1
    _begin(tmp_path)
    assert {path for path in tmp_path.rglob("*") if path.is_file()} == before


def test_numbers_are_unique_among_processes_and_sort_numerically(tmp_path: Path) -> None:
    def many() -> None:
        for _ in range(20):
            open_command(tmp_path, None, [], "nfd_has_labels", 1)

    children = []
    for _ in range(4):
        child = os.fork()
        if child == 0:
            many()
            os._exit(0)
        children.append(child)
    assert [os.waitpid(child, 0)[1] for child in children] == [0] * 4
    names = [path.name for path in numbered_children(tmp_path)]
    assert names == [f"{number:03d}__nfd__has_labels" for number in range(1, 81)]
    (tmp_path / "1000__x").mkdir()
    assert [path.name for path in numbered_children(tmp_path)][-1] == "1000__x"


def test_group_is_one_directory_per_attempt(tmp_path: Path) -> None:
    first = open_command(tmp_path, None, ["prepare", "lane__gpu"], "nfd_has_labels", 1)
    second = open_command(tmp_path, None, ["prepare", "lane__gpu"], "nfd_wait_labels", 1)
    again = open_command(tmp_path, None, ["prepare"], "nfd_has_labels", 2)
    assert str(first.relative_to(tmp_path)) == "001__prepare/001__lane__gpu/001__nfd__has_labels"
    assert str(second.relative_to(tmp_path)) == "001__prepare/001__lane__gpu/002__nfd__wait_labels"
    assert str(again.relative_to(tmp_path)) == "002__prepare/001__nfd__has_labels"
    assert open_group(tmp_path, "prepare", 2) == again.parent


def test_nested_command_is_in_its_parents_directory(tmp_path: Path) -> None:
    outer = open_command(tmp_path, None, [], "cluster_deploy_operator", 1)
    inner = open_command(tmp_path, outer, ["wait"], "gpu_operator_wait_deployment", 1)
    assert str(inner.relative_to(outer)) == "001__wait/001__gpu_operator__wait_deployment"
    assert {path.name for path in inner.iterdir()} == {"src", "artifacts"}


def test_space_for_the_last_documents_is_reserved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run_directory.begin_attempt(tmp_path, {"flow": "x"})
    reserve = tmp_path / run_directory.RESERVE_FILE
    run_directory.make_room(tmp_path)
    assert reserve.stat().st_size > 0
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: SimpleNamespace(free=4096))
    run_directory.make_room(tmp_path)
    assert not reserve.exists()
    run_directory.begin_attempt(tmp_path, {"flow": "x"})
    assert not reserve.exists()
