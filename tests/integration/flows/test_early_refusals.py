"""Invalid settings are refused before any change and before any request to a cluster."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.integration.conftest import PROGRAMS, PROJECT

WRONG = {
    "scale_test_churn_period": "abc",
    "scale_test_metrics_interval": "xx",
    "scale_test_duration": "-1s",
    "scale_test_batch_delay": "x",
    "scale_test_metrics_endpoints": {"foo": "bar"},
    "scale_test_priorities": [{"name": "high", "value": 2_000_000_000}],
    "scale_test_tenants": [{"namespace": "Bad_NS"}],
    "scale_test_pvc_size": "12x",
    "scale_test_timeout": "0s",
    "scale_test_template": "/no/such.yml",
}
# the setting that a delay between batches requires
BATCHES = {"scale_test_connections": 8}


def environment(runs: Path) -> dict[str, str]:
    """Return an environment without a cluster."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("ANSIBLE_", "PERF_"))}
    path = f"{PROGRAMS}:{os.environ['PATH']}"
    return {**kept, "PATH": path, "PERF_LAB": "of-nobody", "PERF_RUNS_DIR": str(runs), "ANSIBLE_NOCOLOR": "1"}


def refuse(runs: Path, command: list[str], settings: dict[str, Any]) -> str:
    """Run a program that refuses the settings; return its output."""
    words = [str(PROGRAMS / command[0]), *command[1:], "-e", json.dumps(settings)]
    done = subprocess.run(words, cwd=PROJECT, env=environment(runs), capture_output=True, text=True, check=False)
    assert done.returncode == 2, done.stdout + done.stderr
    return done.stdout + done.stderr


def refusal(runs: Path, command: list[str], settings: dict[str, Any], *, recorded: bool = True) -> list[str]:
    """Return the reasons of a refused run, which changed nothing; invalid settings are not recorded."""
    refuse(runs, command, settings)
    (directory,) = runs.iterdir()
    document = json.loads((directory / "run.json").read_text())
    assert (document["status"], document["exit_code"]) == ("refused", 2)
    assert (directory / "settings.yml").is_file() == recorded
    assert list(directory.glob("*__*")) == []
    lines: list[str] = document["reason"]["why"].splitlines()
    return lines


NATIVE = ["ansible-playbook", "playbooks/scale_test.yml", "-i", "inventories/lab"]
DRIVER = ["perfdrv", "run", "scale_test", "--site", "lab"]


@pytest.mark.parametrize(
    "command", [NATIVE, pytest.param([*NATIVE, "--check"], marks=pytest.mark.deep)], ids=["native", "check"]
)
def test_all_mistakes_are_reported_together(tmp_path: Path, command: list[str]) -> None:
    lines = refusal(tmp_path, command, WRONG | BATCHES)
    assert {line.partition(":")[0] for line in lines} == set(WRONG)
    assert len(lines) == len(WRONG)


def test_run_refused_by_the_driver_does_not_begin(tmp_path: Path) -> None:
    output = refuse(tmp_path, DRIVER, WRONG | BATCHES)
    assert [name for name in WRONG if f"{name}: " not in output] == []
    assert list(tmp_path.iterdir()) == []


def test_batches_require_a_number_of_connections(tmp_path: Path) -> None:
    output = refuse(tmp_path, DRIVER, {"scale_test_batch_delay": "1s"})
    assert "scale_test_batch_delay needs scale_test_connections" in output


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"scale_test_trace": "/nonexistent.csv"}, "scale_test_trace: file /nonexistent.csv does not exist"),
        (
            {"scale_test_phases": [{"duration": "10s", "from": 2.0, "to": 0.0}], "scale_test_count": [5, 30]},
            "scale_test_phases: the phases end at a rate of 0 after about 10 workloads, before all 30 are due",
        ),
    ],
)
def test_arrivals_are_checked_in_every_cell(tmp_path: Path, settings: dict[str, Any], why: str) -> None:
    (line,) = refusal(tmp_path, NATIVE, settings)
    assert line.startswith(why)


@pytest.mark.parametrize(
    ("argument", "value", "why"),
    [
        ("template", "/no/such.yml", "template: file /no/such.yml does not exist"),
        pytest.param("trace", "/nonexistent.csv", "trace: file /nonexistent.csv does", marks=pytest.mark.deep),
        pytest.param("timeout", "0s", "timeout: 0.0 must be above 0", marks=pytest.mark.deep),
        pytest.param(
            "namespace", "Bad_NS", "namespace: 'Bad_NS' is not a valid name of a namespace", marks=pytest.mark.deep
        ),
        ("pvc_size", "12x", "pvc_size: '12x' is not a quantity"),
    ],
)
def test_single_command_refuses_invalid_arguments(tmp_path: Path, argument: str, value: str, why: str) -> None:
    words = ["playbooks/toolbox.yml", "-i", "inventories/lab", "--check", "-e", "perf_command=scale_test_submit"]
    given = json.dumps({f"scale_test_submit_{argument}": value})
    subprocess.run(
        [str(PROGRAMS / "ansible-playbook"), *words, "-e", given],
        cwd=PROJECT,
        env=environment(tmp_path),
        capture_output=True,
        check=False,
    )
    (directory,) = tmp_path.iterdir()
    document = json.loads((directory / "run.json").read_text())
    assert document["exit_code"] == 2
    assert document["reason"]["why"].startswith(why)


TRAINING = ["ansible-playbook", "playbooks/fine_tuning.yml", "-i", "inventories/lab"]


def test_invalid_training_is_refused_before_the_preparation(tmp_path: Path) -> None:
    wrong = {"fine_tuning_timeout": "12 hours", "fine_tuning_namespace": "Bad_NS", "rhoai_version": "2.19.0"}
    lines = refusal(tmp_path, TRAINING, wrong, recorded=False)
    assert [line.partition(": ")[2].partition(";")[0] for line in lines[:2]] == [
        "fine_tuning_namespace is not a valid name",
        "fine_tuning_timeout is not a duration",
    ]
    assert "rhoai_version needs rhoai_channel" in lines[2]
    assert len(lines) == 3
