"""The flow container_bench as its user runs it, over a real sshd with a real podman, and its failures."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.integration.machines.conftest import Machine
from tests.polling import wait_until

FLOW = ("run", "container_bench")
# more repetitions than the test needs until it interferes
ENDLESS = ("-s", "container_bench_benchmark=exec_container", "-s", "container_bench_runs=100000")


def only_run(runs: Path) -> Path:
    (run,) = runs.iterdir()
    return run


def reason(runs: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((only_run(runs) / "run.json").read_text())
    return document


def measurement(runs: Path) -> dict[str, Any]:
    (path,) = only_run(runs).rglob("container_benchmark.yml")
    document: dict[str, Any] = yaml.safe_load(path.read_text())
    return document


def test_engine_is_measured_and_a_missing_one_refused(machine: Machine, tmp_path: Path) -> None:
    # docker's client may be installed, without its daemon
    absent = ("-s", 'container_bench_environment={"DOCKER_HOST": "tcp://127.0.0.1:1"}')
    matrix = ("-s", "container_bench_engine=[podman, docker]", "-s", "container_bench_runs=2")
    code, output = machine.run(tmp_path, *FLOW, *machine.words, *matrix, *absent)
    assert code == 3, output
    assert "docker" in str(reason(tmp_path)["reason"])
    states = {
        path.parent.name[-1]: json.loads(path.read_text()) for path in only_run(tmp_path).glob("*cell*/cell.json")
    }
    assert {state["values"]["container_bench_engine"]: state["status"] for state in states.values()} == {
        "podman": "ok",
        "docker": "failed",
    }
    kpis = json.loads((only_run(tmp_path) / "report/kpis.json").read_text())["kpis"]
    values = {one["name"]: one["value"] for one in kpis if one["labels"].get("benchmark") == "run_container"}
    assert values["runs_done"] == 2
    assert values["run_time_p50"] > values["measuring_overhead"] > 0
    # one measurement and its samples, those of the cell that measured
    (cell,) = only_run(tmp_path).rglob("container_benchmark.yml")
    samples = [path for path in only_run(tmp_path).rglob("cpu_ram_usage.jsonl") if path.stat().st_size]
    assert cell.parents[2] in {path.parents[2] for path in samples}
    assert 0 <= next(one["value"] for one in kpis if one["name"] == "host_cpu_mean") <= 1
    assert next(one["value"] for one in kpis if one["name"] == "host_received_mean") >= 0
    assert machine.leftovers() == []


@pytest.mark.deep
def test_killed_run_leaves_only_what_finalize_removes(machine: Machine, tmp_path: Path) -> None:
    process = machine.start(tmp_path, *FLOW, *machine.words, *ENDLESS)
    wait_until(lambda: machine.inside("podman", "ps", "--quiet").split())
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    words = ("runs", "finalize", only_run(tmp_path).name)
    code, output = machine.run(tmp_path, *words)
    assert machine.leftovers() == [], output
    assert code == 0, output


@pytest.mark.deep
def test_interrupted_run_cleans_up(machine: Machine, tmp_path: Path) -> None:
    process = machine.start(tmp_path, *FLOW, *machine.words, *ENDLESS)
    wait_until(lambda: machine.inside("podman", "ps", "--quiet").split())
    process.send_signal(signal.SIGINT)
    output, _nothing = process.communicate()
    assert process.returncode == 130, output
    assert machine.leftovers() == []


@pytest.mark.deep
def test_machine_lost_during_a_measurement_is_cleaned_up_later(machine: Machine, tmp_path: Path) -> None:
    process = machine.start(tmp_path, *FLOW, *machine.words, *ENDLESS)
    wait_until(lambda: machine.inside("podman", "ps", "--quiet").split())
    machine.stop_sshd()
    output, _nothing = process.communicate()
    machine.start_sshd()
    assert process.returncode == 3, output
    assert "cannot be reached" in str(reason(tmp_path)["reason"])
    code, output = machine.run(tmp_path, "runs", "finalize", only_run(tmp_path).name)
    assert machine.leftovers() == [], output
    assert code == 0, output


@pytest.mark.deep
def test_machine_missing_during_the_preparation_is_named(machine: Machine, tmp_path: Path) -> None:
    machine.stop_sshd()
    code, output = machine.run(tmp_path, *FLOW, *machine.words)
    machine.start_sshd()
    assert code == 3, output
    assert "cannot be reached" in str(reason(tmp_path)["reason"])


@pytest.mark.deep
def test_machine_with_another_host_key_is_refused(machine: Machine, tmp_path: Path) -> None:
    (tmp_path / "known_hosts").touch()
    ssh = f"-o UserKnownHostsFile={tmp_path}/known_hosts -o ControlPath=none"
    words = ("-e", json.dumps({"ansible_ssh_common_args": ssh}))
    code, output = machine.run(tmp_path / "runs", *FLOW, *machine.words, *words)
    assert code == 3, output
    why = str(reason(tmp_path / "runs")["reason"])
    assert "host sutest cannot be reached: its host key is unknown: [127.0.0.1]:" in why
    assert f"is not in {tmp_path}/known_hosts; compare the key with" in why


@pytest.mark.deep
def test_full_disk_is_reported_in_the_hosts_words(machine: Machine, tmp_path: Path) -> None:
    words = ("-s", f"container_bench_work_directory={machine.folder}/small")
    build = ("-s", "container_bench_benchmark=image_build_large_build_context")
    code, output = machine.run(tmp_path, *FLOW, *machine.words, *words, *build)
    assert code == 3, output
    assert "No space left on device" in str(reason(tmp_path)["reason"])
    assert machine.inside("ls", f"{machine.folder}/small") == ""
    assert machine.leftovers() == []


@pytest.mark.deep
def test_clock_an_hour_ahead_changes_no_time(machine: Machine, tmp_path: Path) -> None:
    before = time.time()
    words = ("-e", f"ansible_python_interpreter={machine.folder}/python-ahead", "-s", "container_bench_runs=2")
    code, output = machine.run(tmp_path, *FLOW, *machine.words, *words)
    assert code == 0, output
    assert "the clock of sutest differs by 3" in (only_run(tmp_path) / "ansible.log").read_text()
    document = measurement(tmp_path)
    within = document["clock"]["within_s"]
    assert abs(document["clock"]["offset_s"] - 3600) <= within
    for run in document["runs"]:
        assert before - within <= run["started"] <= time.time() + within
        assert run["took_s"] < time.time() - before
