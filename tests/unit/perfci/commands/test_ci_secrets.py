"""`perfdrv ci secrets`: the state of each secret of a flow, before a run starts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from perfdrv.__main__ import main

from tests.unit.driver.conftest import ROOT

pytestmark = pytest.mark.slow

COMMAND = ("--project", str(ROOT), "ci", "secrets", "fine_tuning")
SOURCE = {"type": "model_registry", "source_dir": "hf://", "secret": "env:HF_TOKEN"}


@pytest.fixture(autouse=True)
def secrets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of the secrets, empty."""
    monkeypatch.setenv("PERF_SECRETS_DIR", str(tmp_path))
    monkeypatch.delenv("HF_TOKEN", raising=False)
    return tmp_path


def test_each_secret_is_listed_with_its_problem_but_no_value(secrets: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (secrets / "pull-secret").write_text("no json but planted-4711")
    (secrets / "token").write_text("ghp_planted-4711\n")
    given = (
        "-s",
        "rhoai_pull_secret=file:pull-secret",
        "-s",
        "github_token=file:token",
        "-s",
        "prometheus_token=env:NO",
    )
    assert main([*COMMAND, *given, "-e", json.dumps({"fine_tuning_sources.hf": SOURCE})]) == 2
    shown = capsys.readouterr()
    lines = {line.split()[0]: line for line in shown.out.splitlines()}
    assert "file:pull-secret does not have the declared format: a mapping in JSON" in lines["rhoai_pull_secret"]
    assert "env:NO is missing" in lines["prometheus_token"]
    assert "  ok " in lines["github_token"]
    assert "not given" in lines["github_app_key"]
    assert "HF_TOKEN" in lines["fine_tuning_sources.hf.secret"]
    assert "problems found: 2" in shown.err
    assert "planted-4711" not in shown.out + shown.err


def test_unset_or_unused_secret_is_no_error(capsys: pytest.CaptureFixture[str]) -> None:
    extra = json.dumps({"fine_tuning_sources.hf": SOURCE, "github_token": "vault:token"})
    assert main([*COMMAND, "-e", extra]) == 0
    shown = capsys.readouterr().out
    assert "in a vault" in shown
    assert "the secret env:HF_TOKEN is missing" in shown


def test_plain_text_secret_is_refused_and_not_repeated(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*COMMAND, "-s", "github_token=planted-4711"]) == 2
    shown = capsys.readouterr()
    assert "must name a secret, not be one" in shown.out
    assert "planted-4711" not in shown.out + shown.err
