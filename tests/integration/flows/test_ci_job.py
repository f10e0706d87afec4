"""From a pull request to a verdict on the lab: the job starts, exports, tells, and is plotted without a cluster."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml
from ansible_collections.psap.perf.plugins.module_utils.exporting.store import Store
from kubernetes import client, config
from perfdrv.ci.steps import NAMES

from tests.github_api import NUMBER, PAGE, REPOSITORY, GitHubApi, github_api
from tests.integration.conftest import PATIENCE_S, PROGRAMS, PROJECT, Lab
from tests.s3_server import CREDENTIALS, SECRET, s3_server
from tests.schemas import check_file
from tests.slack_api import SlackApi, slack_api

PROW = PROJECT / "tests" / "data" / "ci" / "prow.json"
NAMESPACE = "psap-perf-scale-test"
BUCKET = "artifacts"
PLACE = f"s3://{BUCKET}/perf"
TOKENS = {"github": "ghp_planted-github-word", "slack": "xoxb-planted-slack-word"}
FILES = {"s3": CREDENTIALS, **{name: f"{word}\n" for name, word in TOKENS.items()}}
SECRETS = (SECRET, *TOKENS.values())


@dataclass
class Job:
    """Starts jobs as Prow does, with a pull request, a channel and a store of their own."""

    lab: Lab
    folder: Path
    github: GitHubApi
    slack: SlackApi
    store: Store
    endpoint: str
    said: list[str] = field(default_factory=list)

    @property
    def artifacts(self) -> Path:
        """ARTIFACT_DIR, but for steps that have one each."""
        return self.folder / "artifacts"

    @property
    def settings(self) -> dict[str, Any]:
        """What the job itself sets."""
        return {
            "github_url": self.github.url,
            "github_token": "file:github",
            "notify_github": True,
            "notify_slack_channel": "C1",
            "notify_slack_token": "file:slack",
            "notify_slack_url": self.slack.url,
            "export_to": PLACE,
            "export_endpoint": self.endpoint,
            "export_credentials": "file:s3",
        }

    def environment(self, artifacts: Path) -> dict[str, str]:
        """That of a presubmit."""
        prow = json.loads(PROW.read_text(encoding="utf-8"))["presubmit"]["environment"]
        specification = prow["JOB_SPEC"].replace('"number":123', f'"number":{NUMBER}').replace("/pull/123", "/pull/7")
        mine = {
            "JOB_SPEC": specification,
            "ARTIFACT_DIR": str(artifacts),
            "SHARED_DIR": str(self.folder / "shared"),
            "PERF_SECRETS_DIR": str(self.folder / "secrets"),
            "TMPDIR": str(self.folder),
        }
        return {**self.lab.environment(self.folder / "runs"), **prow, **mine}

    def start(self, *words: str, artifacts: Path | None = None, **variables: str) -> subprocess.Popen[str]:
        """Begin `perfdrv ci …` with the job's own arguments."""
        command = (*words, "scale_test", "-p", "smoke", "--site", "lab", "-e", json.dumps(self.settings))
        return subprocess.Popen(
            [str(PROGRAMS / "perfdrv"), "ci", *command],
            cwd=PROJECT,
            env={**self.environment(artifacts or self.artifacts), **variables},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def end(self, process: subprocess.Popen[str]) -> int:
        """Wait for its end; the exit code."""
        out, _ = process.communicate(timeout=PATIENCE_S)
        assert "Traceback" not in out, out
        self.said.append(out)
        return process.returncode

    def __call__(self, *words: str, artifacts: Path | None = None) -> int:
        """Run one to its end."""
        return self.end(self.start(*words, artifacts=artifacts))

    def run(self, artifacts: Path | None = None) -> Path:
        """The directory of the run."""
        (found,) = (artifacts or self.artifacts).glob("scale_test-*")
        return found

    def exported(self, path: str) -> bytes:
        """A file of the export of the only run."""
        (found,) = {key.split("/")[1] for key in self.store.sizes("perf/")}
        content = self.store.read(f"perf/{found}/{path}")
        assert content is not None
        return content

    @staticmethod
    def count(settings: bytes) -> tuple[int, str]:
        """What the pull request set, and its origin, of the recorded settings."""
        recorded = yaml.safe_load(settings)["all"]["scale_test_count"]
        return recorded["value"], recorded["origin"]

    def told(self) -> tuple[str, str]:
        """The only message in Slack, in its thread, and the only comment."""
        parent, message = self.slack.messages
        assert parent["metadata"]["event_payload"] == {"subject": f"{REPOSITORY}#{NUMBER}"}
        assert message["thread_ts"] == parent["ts"]
        (comment,) = (body for author, _association, body in self.github.comments if author.endswith("[bot]"))
        return message["text"], comment

    def leaks(self) -> list[str]:
        """Where a secret of the job stands in all that it left and said."""
        files = [path for path in self.folder.rglob("*") if path.is_file() and path.parent != self.folder / "secrets"]
        places = [str(path) for path in files for word in SECRETS if word.encode() in path.read_bytes()]
        spoken = [
            *self.said,
            *(message["text"] for message in self.slack.messages),
            *(c[2] for c in self.github.comments),
        ]
        return places + [text for text in spoken for word in SECRETS if word in text]


@pytest.fixture(name="job")
def _job(shared_lab: Lab, tmp_path: Path) -> Iterator[Job]:
    (tmp_path / "secrets").mkdir(mode=0o700)
    for name, content in FILES.items():
        (tmp_path / "secrets" / name).write_text(content)
        (tmp_path / "secrets" / name).chmod(0o600)
    with github_api() as github, slack_api() as slack, s3_server(tmp_path) as server:
        github.comments = [("ada", "MEMBER", "/test scale-test\n/var scale_test_count: 50")]
        store = server.bucket(BUCKET)
        yield Job(shared_lab, tmp_path, github, slack, store, server.endpoint)
        store.close()


def _left_in_cluster(lab: Lab) -> list[str]:
    """Names of the workloads of the flow."""
    config.load_kube_config(str(lab.kubeconfig))
    return [job.metadata.name for job in client.BatchV1Api().list_namespaced_job(NAMESPACE).items]


def _wait_for_workloads(lab: Lab, running: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not _left_in_cluster(lab):
        assert running.poll() is None and time.monotonic() < deadline
        time.sleep(0.1)


def _replot(job: Job) -> subprocess.CompletedProcess[str]:
    """Plot the export where there is nothing but the store: no project, no lab, no kubeconfig."""
    machine = job.folder / "elsewhere"
    machine.mkdir()
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(machine),
        "KUBECONFIG": str(machine / "none"),
        "PERF_SECRETS_DIR": str(job.folder / "secrets"),
        "PERF_EXPORT_ENDPOINT": job.endpoint,
        "PERF_EXPORT_CREDENTIALS": "file:s3",
    }
    words = ["replot", f"{PLACE}/{job.run().name}", "--runs-dir", str(machine / "runs")]
    command = [str(PROGRAMS / "perfdrv"), *words]
    return subprocess.run(command, cwd=machine, env=environment, capture_output=True, text=True, check=False)


def test_a_pull_request_starts_a_job_that_exports_tells_and_is_plotted_elsewhere(job: Job) -> None:
    assert job("run") == 0, job.said
    run = job.run()
    assert job.count((run / "settings.yml").read_bytes()) == (50, f"{job.github.comment_url(0)}:2")
    (report,) = run.rglob("accounting.json")
    assert json.loads(report.read_text())["completed"] == 50
    exported = json.loads(job.exported("run.json"))
    assert (exported["status"], exported["site"], bool(exported["ended"])) == ("ok", "lab", True)
    for text in job.told():
        assert "scale_test" in text
        assert "ok" in text
        assert f"{PLACE}/{run.name}" in text
        assert PAGE in text
    links = {path.name: path.read_text().strip() for path in job.artifacts.glob("custom-link-*.txt")}
    assert any(link.endswith(f"{run.name}/report/index.html") for link in links.values()), links
    assert _left_in_cluster(job.lab) == []
    assert job.leaks() == []

    plotted = _replot(job)
    assert plotted.returncode == 0, plotted.stdout + plotted.stderr
    (plots,) = (job.folder / "elsewhere" / "runs").glob("plots-*")
    check_file(plots / "plots.json")
    assert (plots / run.name / "index.html").is_file()


def test_the_same_in_steps_that_have_folders_of_their_own(job: Job) -> None:
    codes = {name: job("step", name, artifacts=job.folder / name) for name in NAMES}
    assert set(codes.values()) == {0}, job.said
    (name,) = {job.run(job.folder / step).name for step in NAMES}
    exported = json.loads(job.exported("run.json"))
    assert (exported["id"], exported["status"], len(exported["attempts"])) == (name, "ok", 4)
    assert job.count(job.exported("settings.yml"))[0] == 50
    assert job.exported("report/index.html")
    for text in job.told():
        assert f"{PLACE}/{name}" in text
    assert _left_in_cluster(job.lab) == []
    assert job.leaks() == []


def test_a_job_at_its_time_limit_leaves_a_clean_cluster_and_whole_files(job: Job) -> None:
    job.github.comments[0] = ("ada", "MEMBER", "/test scale-test\n/var scale_test_duration: 10m")
    process = job.start("run", PERF_CI_GRACE="30")
    _wait_for_workloads(job.lab, process)
    process.send_signal(signal.SIGTERM)
    assert job.end(process) == 130
    assert "interrupted (exit code 130)" in (job.artifacts / "FINISHED").read_text()
    run = json.loads((job.run() / "run.json").read_text())
    assert (run["status"], bool(run["finalized"])) == ("interrupted", True)
    assert _left_in_cluster(job.lab) == []
    assert json.loads(job.exported("run.json"))["status"] == "interrupted"
    assert all("interrupted" in text for text in job.told())


@pytest.mark.deep
def test_a_step_that_is_killed_is_cleaned_up_after_by_the_next_one(job: Job) -> None:
    job.github.comments[0] = ("ada", "MEMBER", "/test scale-test\n/var scale_test_duration: 10m")
    process = job.start("step", "test", PERF_CI_GRACE="1")
    _wait_for_workloads(job.lab, process)
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(1)
    except subprocess.TimeoutExpired:
        process.kill()
    process.communicate()
    assert process.returncode in (130, -signal.SIGKILL)
    assert [job("step", name) for name in ("post_cleanup", "export")] == [0, 0], job.said
    assert _left_in_cluster(job.lab) == []
    run = json.loads(job.exported("run.json"))
    assert (run["status"], bool(run["finalized"])) == ("interrupted", True)
    assert "interrupted" in (job.artifacts / "FAILURES").read_text()
    assert all("interrupted" in text for text in job.told())


def test_a_cluster_that_cannot_be_reached_is_no_failed_test(job: Job) -> None:
    kubeconfig = yaml.safe_load(job.lab.kubeconfig.read_text())
    kubeconfig["clusters"][0]["cluster"]["server"] = "https://127.0.0.1:9"
    gone = job.folder / "gone.kubeconfig"
    gone.write_text(yaml.safe_dump(kubeconfig))
    assert job("run", "-e", f"perf_kubeconfig={gone}") == 3, job.said
    assert "cluster unreachable or unfit (exit code 3)" in (job.artifacts / "FINISHED").read_text()
    (failure,) = (job.artifacts / "FAILURES").read_text().splitlines()
    assert failure.endswith("exit code 3: cluster unreachable or unfit")
    (junit,) = job.artifacts.glob("junit_*.xml")
    document = ElementTree.fromstring(junit.read_text())
    assert (document.get("failures"), document.get("errors")) == ("0", "2")
    for text in job.told():
        assert "failed: cluster unreachable or unfit" in text
        assert "cannot reach the cluster at https://127.0.0.1:9" in text
    assert json.loads(job.exported("run.json"))["exit_code"] == 3
