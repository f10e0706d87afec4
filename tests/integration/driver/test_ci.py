"""CI jobs and their steps as processes: their files after success, failure and kill."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest
import yaml

from tests.standins.github_api import NUMBER, github_api

from .conftest import Driver

PROW = Path(__file__).parents[2] / "data" / "ci" / "prow.json"


@pytest.fixture
def job(driver: Driver) -> Driver:
    """Return a driver whose artifact directory is the tests' folder of runs."""
    driver.variables["ARTIFACT_DIR"] = str(driver.runs)
    return driver


def text(folder: Path, name: str) -> str:
    """Return the text of a job's file."""
    return (folder / name).read_text(encoding="utf-8")


def test_job_completes_all_steps_and_a_second_does_not_overwrite_it(job: Driver) -> None:
    ended = job("ci", "run", "demo", "-s", "demo_fails=true", "--skip", "plots")
    assert ended.code == 1, ended.out + ended.err
    assert "failed (exit code 1)" in text(job.runs, "FINISHED")
    (failure,) = text(job.runs, "FAILURES").splitlines()
    assert "demo_fail: The moon is within reach" in failure
    assert "The moon is within reach" in text(job.runs, "junit_manual.xml")
    assert text(job.runs, "run.log").splitlines()[0] in ended.out
    (run,) = job.runs.glob("demo-*")
    assert f"{run.name}/ansible.log" in text(job.runs, "index.html")
    again = job("ci", "run", "demo")
    assert (again.code, "has the artifacts of an earlier job" in again.err) == (2, True)
    assert "failed (exit code 1)" in text(job.runs, "FINISHED")


@pytest.mark.deep
def test_failed_step_skips_the_test_but_not_the_other_steps(job: Driver) -> None:
    settings = ("demo", "-s", "demo_seconds=soon", "--skip", "plots")
    assert job("ci", "step", "prepare", *settings).code == 2
    test = job("ci", "step", "test", *settings)
    assert (test.code, "test: not run: prepare failed" in test.out) == (2, True)
    # cleanup still runs, and fails by itself
    assert "demo_seconds must be a float" in job("ci", "step", "post_cleanup", *settings).err
    plots = job("ci", "step", "plots", *settings)
    assert (plots.code, "plots: skipped: plots is skipped on request" in plots.out) == (0, True)
    assert not list(job.runs.glob("demo-*"))


@pytest.mark.parametrize(("grace", "cleaned"), [("60", ["ok"]), pytest.param("1", [], marks=pytest.mark.deep)])
def test_sigterm_leaves_complete_files_within_the_grace_period(job: Driver, grace: str, cleaned: list[str]) -> None:
    job.variables["PERF_CI_GRACE"] = grace
    process = job.start("ci", "run", "demo", "-s", "demo_seconds=600", "--skip", "plots")
    job.wait_for_sleep()
    process.send_signal(signal.SIGTERM)
    assert job.end(process).code == 130
    assert "interrupted (exit code 130)" in text(job.runs, "FINISHED")
    assert "the run was asked to stop" in text(job.runs, "FAILURES")
    (run,) = job.runs.glob("demo-*")
    document = json.loads(text(run, "run.json"))
    assert (document["status"], bool(document.get("finalized"))) == ("interrupted", bool(cleaned))
    # the next step completes what the grace period was too short for
    assert job("ci", "step", "post_cleanup", "demo", "-s", "demo_seconds=600", "--skip", "plots").code == 0
    assert json.loads(text(run, "run.json"))["finalized"]


@pytest.mark.deep
def test_step_after_a_killed_one_cleans_up(job: Driver) -> None:
    settings = ("demo", "-s", "demo_seconds=600")
    process = job.start("ci", "step", "test", *settings)
    job.wait_for_sleep()
    process.kill()
    process.communicate()
    assert job("ci", "step", "post_cleanup", *settings).code == 0
    assert "interrupted" in text(job.runs, "FAILURES")
    (run,) = job.runs.glob("demo-*")
    document = json.loads(text(run, "run.json"))
    assert (document["status"], bool(document["finalized"])) == ("interrupted", True)
    assert "step test" in text(job.runs, "junit_manual.xml")


@pytest.mark.deep
def test_presubmit_follows_its_pull_request(job: Driver) -> None:
    environment = json.loads(PROW.read_text(encoding="utf-8"))["presubmit"]["environment"]
    job.variables["JOB_SPEC"] = environment["JOB_SPEC"].replace('"number":123', f'"number":{NUMBER}')
    with github_api() as api:
        api.comments = [("ada", "MEMBER", "/test scale-test quick\n/var demo_seconds: [0.2, 0.3]\n/skip plots")]
        options = ("demo", "-s", f"github_url={api.url}", "-s", "github_token=env:TOKEN_OF_TEST")
        job.variables["TOKEN_OF_TEST"] = "ghp_none-of-a-real-one"
        ended = job("ci", "run", *options)
        assert ended.code == 0, ended.out + ended.err
        (run,) = job.runs.glob("demo-*")
        recorded = yaml.safe_load(text(run, "settings.yml"))["all"]["demo_seconds"]
        assert recorded == {"value": [0.2, 0.3], "origin": f"{api.comment_url(0)}:2"}
        assert json.loads(text(run, "run.json"))["presets"] == ["quick"]
        assert len(list(run.glob("*__cell__*"))) == 2
        assert f"demo_seconds: \\[0.2, 0.3\\] ({api.comment_url(0)}:2)" in text(job.runs, "summary.md")
        files = [path for path in job.runs.rglob("*") if path.is_file()]
        assert not [path for path in files if b"ghp_none-of-a-real-one" in path.read_bytes()]
        api.comments.append(("ada", "MEMBER", "/test scale-test\n/var demo_fails: true"))
        job.variables["ARTIFACT_DIR"] = str(job.runs / "refused")
        refused = job("ci", "run", *options, "-s", "notify_github=true", "-s", "notify_dry_run=true")
        assert "* `" + f"{api.comment_url(1)}:2" in refused.out.partition("notify  github")[2]
        assert (refused.code, "a pull request cannot set demo_fails" in refused.err) == (2, True)
        assert f"{api.comment_url(1)}:2" in text(job.runs / "refused", "FAILURES")


def test_malformed_secret_is_refused_in_the_first_play(job: Driver) -> None:
    job.variables["TOKEN_OF_TEST"] = "planted 4711"
    ended = job("run", "demo", "-s", "github_token=env:TOKEN_OF_TEST")
    assert ended.code == 2
    assert "the secret env:TOKEN_OF_TEST does not have the declared format: one line without spaces" in ended.err
    assert "planted" not in ended.out + ended.err


def test_collection_accepts_only_permitted_settings_of_a_pull_request(job: Driver, tmp_path: Path) -> None:
    place = {"url": "https://github.com/o/r/pull/1", "line": 3}
    settings = [{"name": "demo_note", "value": "x", **place}, {"name": "demo_seconds", "value": "{{ 1 }}", **place}]
    document = {"schema": "psap.perf/pull-arguments/1", "presets": [], "settings": settings}
    path = tmp_path / "arguments.yml"
    path.write_text(yaml.safe_dump(document), encoding="utf-8")
    ended = job("run", "demo", "-e", json.dumps({"perf_pull_arguments": str(path)}))
    assert ended.code == 2
    assert "https://github.com/o/r/pull/1:3: a pull request cannot set demo_note" in ended.err
    assert "demo_seconds contains {{; a pull request cannot set templates" in ended.err
