"""Jobs as a CI system starts them on the lab; pull request, Slack channel and store are stand-ins."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
import yaml
from ansible_collections.psap.perf.plugins.module_utils.exporting.store import Store

from tests.integration.conftest import PROGRAMS, PROJECT, Lab
from tests.polling import PATIENCE_S
from tests.standins.github_api import BOT, NUMBER, REPOSITORY, GitHubApi, github_api
from tests.standins.s3_server import CREDENTIALS, SECRET, s3_server
from tests.standins.slack_api import SlackApi, slack_api

PROW = PROJECT / "tests" / "data" / "ci" / "prow.json"
BUCKET = "artifacts"
PLACE = f"s3://{BUCKET}/perf"
TOKENS = {"github": "ghp_planted-github-word", "slack": "xoxb-planted-slack-word"}
FILES = {"s3": CREDENTIALS, **{name: f"{word}\n" for name, word in TOKENS.items()}}
SECRETS = (SECRET, *TOKENS.values())


@dataclass
class Job:
    """Starts jobs as Prow does, with a dedicated pull request, channel and store."""

    lab: Lab
    folder: Path
    github: GitHubApi
    slack: SlackApi
    store: Store
    endpoint: str
    outputs: list[str] = field(default_factory=list)

    @property
    def artifacts(self) -> Path:
        """ARTIFACT_DIR, unless each step has its own."""
        return self.folder / "artifacts"

    @property
    def settings(self) -> dict[str, Any]:
        """The settings that the job itself sets."""
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
        """Return the environment of a presubmit."""
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

    def start(
        self, *words: str, artifacts: Path | None = None, variables: Mapping[str, str] = MappingProxyType({})
    ) -> subprocess.Popen[str]:
        """Start `perfdrv ci …` with the job's own arguments; a variable with an empty value is removed."""
        command = (*words, "scale_test", "-p", "scale_test_smoke", "--site", "lab", "-e", json.dumps(self.settings))
        known = self.environment(artifacts or self.artifacts)
        return subprocess.Popen(
            [str(PROGRAMS / "perfdrv"), "ci", *command],
            cwd=PROJECT,
            env={name: value for name, value in {**known, **variables}.items() if value},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def end(self, process: subprocess.Popen[str]) -> int:
        """Wait for the end of the job; return its exit code."""
        out, _ = process.communicate(timeout=PATIENCE_S)
        assert "Traceback" not in out, out
        self.outputs.append(out)
        return process.returncode

    def __call__(self, *words: str, artifacts: Path | None = None) -> int:
        """Run a job to its end; return its exit code."""
        return self.end(self.start(*words, artifacts=artifacts))

    def run(self, artifacts: Path | None = None) -> Path:
        """Return the run directory."""
        (found,) = (artifacts or self.artifacts).glob("scale_test-*")
        return found

    def exported(self, path: str) -> bytes:
        """Return a file of the export of the only run."""
        (found,) = {key.split("/")[1] for key in self.store.sizes("perf/")}
        content = self.store.read(f"perf/{found}/{path}")
        assert content is not None
        return content

    @staticmethod
    def count(settings: bytes) -> tuple[int, str]:
        """Return the value that the pull request set, and its origin, from the recorded settings."""
        recorded = yaml.safe_load(settings)["all"]["scale_test_count"]
        return recorded["value"], recorded["origin"]

    def notifications(self) -> tuple[str, str]:
        """Return the only message in Slack, in its thread, and the only comment."""
        parent, message = self.slack.messages
        assert parent["metadata"]["event_payload"] == {"subject": f"{REPOSITORY}#{NUMBER}"}
        assert message["thread_ts"] == parent["ts"]
        (comment,) = (body for author, _association, body in self.github.comments if author == BOT[0])
        return message["text"], comment

    def files(self) -> list[Path]:
        """Return all files of the job and its store, except its secrets."""
        mine = self.folder / "secrets"
        return [path for path in self.folder.rglob("*") if path.is_file() and path.parent != mine]

    def all_output(self) -> str:
        """Return the job's output, its messages and its comments."""
        comments = [body for author, _association, body in self.github.comments if author == BOT[0]]
        return "".join((*self.outputs, json.dumps([self.slack.messages, comments])))

    def leaks(self) -> list[str]:
        """Return the places of the job's own secrets in its files, output and notifications."""
        texts = {str(path): path.read_bytes() for path in self.files()} | {"output": self.all_output().encode()}
        return [name for name, text in texts.items() for word in SECRETS if word.encode() in text]


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
