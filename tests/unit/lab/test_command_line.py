"""Exit codes and messages of `perflab` that need no lab."""

from __future__ import annotations

from pathlib import Path

import pytest
from perflab import __main__ as entry
from perflab.control_plane import lifecycle
from perflab.errors import ClusterError


@pytest.fixture(autouse=True)
def empty_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PERFLAB_HOME", str(tmp_path / "labs"))
    return tmp_path / "labs"


def test_status_without_labs_succeeds(capsys: pytest.CaptureFixture[str]) -> None:
    assert entry.run(["status"], debug=False) == 0
    assert "No lab in" in capsys.readouterr().out


@pytest.mark.parametrize("command", ["kubeconfig", "scale --nodes 3", "step"])
def test_stopped_lab_exits_with_3(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert entry.run(command.split(), debug=False) == 3
    assert "Error: unknown lab 'default'" in capsys.readouterr().err


@pytest.mark.parametrize(
    "command",
    [
        "up --name Bad",
        "down --name ../x",
        "logs etcd",
        "up --nodes -1",
        "nonsense",
        "up --node-template nowhere",
        "up --fair-sharing",
        "up --pods-ready-timeout 5",
        "up --mig",
        "up --dra --profile openshift",
        "up --dra --mig --gpu-product NVIDIA-L4",
        "up --topology rack",
        "up --scheduler-config pyproject.toml",
        "up --second-scheduler pyproject.toml",
        "step a",
    ],
)
def test_invalid_request_exits_with_2(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert entry.run(command.split(), debug=False) == 2
    assert "Error:" in capsys.readouterr().err


def test_down_without_a_lab_succeeds(capsys: pytest.CaptureFixture[str]) -> None:
    assert entry.run(["down"], debug=False) == 0
    assert "There is no lab 'default'" in capsys.readouterr().out


def test_unexpected_error_exits_with_70(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def fail(home: Path, name: str) -> bool:
        raise RuntimeError(f"{home.name} {name}")

    monkeypatch.setattr(lifecycle, "down", fail)
    assert entry.run(["down"], debug=False) == 70
    assert "RuntimeError: labs default (run again with --debug)" in capsys.readouterr().err
    with pytest.raises(RuntimeError):
        entry.run(["down"], debug=True)


def test_ctrl_c_exits_with_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(home: Path, name: str) -> bool:
        raise KeyboardInterrupt

    monkeypatch.setattr(lifecycle, "down", interrupt)
    assert entry.run(["down"], debug=False) == 130


def test_debug_prints_the_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ClusterError):
        entry.run(["kubeconfig"], debug=True)
