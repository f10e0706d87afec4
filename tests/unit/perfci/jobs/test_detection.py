"""The CI system of a job and its data; Prow's environments were generated with Prow's own types."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from perfci.github import PullRequest
from perfci.jobs.detection import detect
from perfci.jobs.job import Job, Link
from perfdrv.errors import UsageError

PROW: dict[str, Any] = json.loads((Path(__file__).parents[3] / "data" / "ci" / "prow.json").read_text(encoding="utf-8"))
JENKINS = {
    "JENKINS_URL": "https://jenkins.example.com/",
    "BUILD_NUMBER": "42",
    "BUILD_URL": "https://jenkins.example.com/job/scale-test/job/PR-7/42/",
    "JOB_NAME": "perf/scale-test/PR-7",
    "WORKSPACE": "/home/jenkins/workspace/scale-test",
    "CHANGE_URL": "https://github.com/openshift-psap/psap-perf/pull/7",
    "CHANGE_AUTHOR": "ada",
}


def prow(kind: str, **more: str) -> Job:
    """Return the job of one of Prow's environments."""
    return detect(PROW[kind]["environment"] | more)[1]


@pytest.mark.parametrize(
    ("kind", "found", "test"),
    [
        ("presubmit", "presubmit", "scale-test"),
        ("postsubmit", "postsubmit", "scale-test"),
        ("periodic", "periodic", "scale-test-nightly"),
        ("rehearsal", "rehearsal", "scale-test"),
        ("batch", "presubmit", "scale-test"),
    ],
)
def test_prow_provides_the_test_and_its_artifact_location(kind: str, found: str, test: str) -> None:
    job = prow(kind)
    assert (job.system, job.kind, job.test) == ("prow", found, test)
    assert job.repository == "openshift-psap/psap-perf"
    assert job.build == "1912345678901234567"
    # Prow's own function builds this path.
    assert job.url.endswith(f"/test-platform-results/{PROW[kind]['path']}")
    assert job.artifacts_url.endswith(f"/test-platform-results/{PROW[kind]['path']}/artifacts/")


def test_prow_provides_the_pull_request() -> None:
    url = "https://github.com/openshift-psap/psap-perf/pull/123"
    assert prow("presubmit").pull == PullRequest("openshift-psap/psap-perf", 123, "ada", url)
    rehearsed = prow("rehearsal").pull
    assert rehearsed is not None
    assert str(rehearsed) == "openshift/release#456"
    # A batch tests several pull requests: no arguments apply.
    assert prow("batch").pull is None
    assert prow("postsubmit").pull is None
    assert prow("periodic").pull is None


def test_ci_operator_step_has_its_folder() -> None:
    job = prow("presubmit", JOB_NAME_SAFE="scale-test", HOSTNAME="scale-test-psap-perf-prepare")
    assert job.artifacts_url.endswith("/artifacts/scale-test/psap-perf-prepare/artifacts/")


def test_prow_steps_share_little_and_no_artifacts(tmp_path: Path) -> None:
    job = prow("presubmit", ARTIFACT_DIR=str(tmp_path / "artifacts"), SHARED_DIR=str(tmp_path / "shared"))
    assert (job.artifacts, job.shared) == (tmp_path / "artifacts", tmp_path / "shared")
    assert not job.steps_share_artifacts
    assert job.shared_limit is not None
    assert job.shared_limit * 4 / 3 < 2**20


@pytest.mark.parametrize("text", ["{", "[]", "null", '{"type": "presubmit"}', '{"type":"periodic","job":"x","refs":3}'])
def test_invalid_job_spec_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="JOB_SPEC is not what Prow documents"):
        detect({"JOB_SPEC": text})


def test_jenkins_provides_build_and_pull_request() -> None:
    _system, job = detect(JENKINS)
    assert (job.system, job.kind, job.name, job.test) == ("jenkins", "presubmit", "perf/scale-test/PR-7", "scale-test")
    assert job.pull == PullRequest("openshift-psap/psap-perf", 7, "ada", JENKINS["CHANGE_URL"])
    assert job.artifacts == Path("/home/jenkins/workspace/scale-test/artifacts/42")
    assert job.steps_share_artifacts
    assert job.artifacts_url == f"{JENKINS['BUILD_URL']}artifact/"


def test_jenkins_build_without_a_pull_request_has_its_repository() -> None:
    environment = {key: value for key, value in JENKINS.items() if not key.startswith("CHANGE_")}
    job = detect(environment | {"GIT_URL": "git@github.com:openshift-psap/psap-perf.git", "JOB_NAME": "scale-test"})[1]
    assert (job.kind, job.repository, job.pull) == ("manual", "openshift-psap/psap-perf", None)
    assert detect(environment | {"BUILD_CAUSE": "TimerTrigger"})[1].kind == "periodic"


def actions(tmp_path: Path, name: str, event: object) -> dict[str, str]:
    """Return the environment of a workflow that an event started."""
    path = tmp_path / "event.json"
    path.write_text(json.dumps(event), encoding="utf-8")
    return {
        "GITHUB_ACTIONS": "true",
        "GITHUB_EVENT_NAME": name,
        "GITHUB_EVENT_PATH": str(path),
        "GITHUB_JOB": "scale-test",
        "GITHUB_REPOSITORY": "openshift-psap/psap-perf",
        "GITHUB_RUN_ATTEMPT": "2",
        "GITHUB_RUN_ID": "99",
        "GITHUB_SERVER_URL": "https://github.com",
        "GITHUB_WORKFLOW": "perf",
        "RUNNER_TEMP": "/runner/temp",
    }


@pytest.mark.parametrize(
    ("name", "event", "kind", "number"),
    [
        ("pull_request", {"pull_request": {"number": 7, "user": {"login": "ada"}}}, "presubmit", 7),
        ("issue_comment", {"issue": {"number": 8, "pull_request": {}, "user": {"login": "ada"}}}, "manual", None),
        ("issue_comment", {"issue": {"number": 8, "pull_request": {"url": "u"}, "user": {}}}, "presubmit", 8),
        ("push", {}, "postsubmit", None),
        ("schedule", {}, "periodic", None),
        ("workflow_dispatch", {}, "manual", None),
    ],
)
def test_github_actions_provides_its_event(
    tmp_path: Path, name: str, event: object, kind: str, number: int | None
) -> None:
    job = detect(actions(tmp_path, name, event) | ({"PERF_CI_KIND": kind} if number is None else {}))[1]
    assert (job.system, job.kind, job.build) == ("github_actions", kind, "99-2")
    assert (job.pull.number if job.pull else None) == number


def test_invalid_event_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is not an event of GitHub"):
        detect(actions(tmp_path, "pull_request", {"pull_request": 3}))


def test_shell_is_not_a_ci_system() -> None:
    job = detect({"USER": "ada"})[1]
    assert (job.system, job.kind, job.pull, job.artifacts) == ("shell", "manual", None, Path.cwd() / "ci-artifacts")


def test_user_of_a_container_needs_no_name(monkeypatch: pytest.MonkeyPatch) -> None:
    def nameless() -> str:
        raise KeyError("getpwuid(): uid not found: 1001")

    monkeypatch.setattr("getpass.getuser", nameless)
    assert detect({})[1].name == str(os.getuid())


@pytest.mark.parametrize(("name", "value"), [("PERF_CI_GRACE", "soon"), ("PERF_CI_GRACE", "0"), ("PERF_CI_KIND", "x")])
def test_variables_of_the_job_are_validated(name: str, value: str) -> None:
    with pytest.raises(UsageError, match=name):
        detect({"USER": "ada", name: value})


def test_links_and_summary_are_where_the_system_shows_them(tmp_path: Path) -> None:
    links = (Link("Report of the run", "https://example.com/report"), Link("Log", "run.log"))
    environment = PROW["presubmit"]["environment"] | {"ARTIFACT_DIR": str(tmp_path)}
    system, job = detect(environment)
    (tmp_path / "custom-link-old.txt").write_text("https://example.com/old")
    system.show(job, links, "", environment)
    assert {path.name: path.read_text().strip() for path in tmp_path.iterdir()} == {
        "custom-link-report-of-the-run.txt": "https://example.com/report"
    }
    environment = actions(tmp_path, "push", {}) | {"GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md")}
    (tmp_path / "summary.md").write_text("Before.\n")
    system, job = detect(environment)
    system.show(job, links, "**failed**", environment)
    assert (tmp_path / "summary.md").read_text() == "Before.\n**failed**\n\n"
