"""Credentials that are not declared as secrets, in every input of a run, are in none of its outputs."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pandas as pd
import pytest
import yaml
from kubernetes import client, config

from tests.data.credentials import PLANTED
from tests.integration.conftest import Lab
from tests.polling import wait_until
from tests.standins.github_api import NUMBER, PAGE, REPOSITORY

from .conftest import Job

NAMESPACE = "psap-perf-scale-test"
ANNOTATIONS = {f"planted.example.com/n{number}": one.text for number, one in enumerate(PLANTED.values())}
URL = "https://robot:planted-setting-word@thanos.example.com"


def _leaks(job: Job) -> list[str]:
    """Return the places of secrets in a job's files, export, notifications and output; tables are searched as text."""
    wanted = {part for one in PLANTED.values() for part in one.secret} | {"planted-setting-word", "planted-server-word"}
    files = [path for path in job.files() if path != job.folder / "event.json"]
    assert files
    texts = {str(path.relative_to(job.folder)): _text(path) for path in files}
    texts["output"] = job.all_output()
    return [f"{name}: {part}" for name, text in texts.items() for part in wanted if part in text] + job.leaks()


def _actions(folder: Path, summary: Path) -> dict[str, str]:
    """Return the environment of a comment's workflow in GitHub Actions instead of Prow's."""
    event = folder / "event.json"
    event.write_text(json.dumps({"issue": {"number": NUMBER, "pull_request": {"url": PAGE}, "user": {"login": "ada"}}}))
    return {
        "JOB_SPEC": "",
        "GITHUB_ACTIONS": "true",
        "GITHUB_STEP_SUMMARY": str(summary),
        "GITHUB_REPOSITORY": REPOSITORY,
        "GITHUB_RUN_ID": "1912345678901234567",
        "GITHUB_JOB": "scale-test",
        "GITHUB_EVENT_NAME": "issue_comment",
        "GITHUB_EVENT_PATH": str(event),
    }


def _write_pull_request(job: Job) -> None:
    """Write a comment with all credentials by a user without permission, and one by a user with permission."""
    hostile = "\n".join(f"/var scale_test_count: {one.text.splitlines()[0]}" for one in PLANTED.values())
    job.github.comments = [
        ("eve", "NONE", f"/test scale-test\n{hostile}"),
        ("ada", "MEMBER", "/test scale-test\n/var scale_test_count: 20"),
    ]


def _text(path: Path) -> str:
    if path.suffix == ".parquet":
        return pd.read_parquet(path).to_csv()
    return path.read_text(encoding="utf-8", errors="replace")


@contextmanager
def _annotated_node(lab: Lab) -> Iterator[None]:
    config.load_kube_config(str(lab.kubeconfig))
    core = client.CoreV1Api()
    name = core.list_node().items[0].metadata.name
    core.patch_node(name, {"metadata": {"annotations": ANNOTATIONS}})
    try:
        yield
    finally:
        core.patch_node(name, {"metadata": {"annotations": dict.fromkeys(ANNOTATIONS)}})


def _create_events(lab: Lab, running: subprocess.Popen[str]) -> None:
    """Create events about the first workload, with a credential in the message of each."""
    config.load_kube_config(str(lab.kubeconfig))
    core, batch = client.CoreV1Api(), client.BatchV1Api()
    metadata = wait_until(lambda: batch.list_namespaced_job(NAMESPACE).items, during=running)[0].metadata
    about = {
        "kind": "Job",
        "apiVersion": "batch/v1",
        "namespace": NAMESPACE,
        "name": metadata.name,
        "uid": metadata.uid,
    }
    for number, one in enumerate(PLANTED.values()):
        event = {
            "metadata": {"name": f"planted-{number}", "namespace": NAMESPACE},
            "involvedObject": about,
            "reason": "Planted",
            "type": "Warning",
            "message": f"it was said: {one.text}"[:1024],
            "firstTimestamp": metadata.creation_timestamp,
            "lastTimestamp": metadata.creation_timestamp,
        }
        core.create_namespaced_event(NAMESPACE, event)


def test_credentials_are_in_no_job_report_export_or_notification(job: Job) -> None:
    metadata = {"metadata": {"annotations": ANNOTATIONS}}
    patch = {**metadata, "spec": {"template": metadata}}
    summary = job.folder / "job-summary.md"
    summary.touch()
    words = ["-s", f"scale_test_patch={json.dumps(patch)}", "-e", json.dumps({"prometheus_url": URL})]
    words += ["-s", "scale_test_duration=10s", "-s", "scale_test_thresholds={time_to_ready_max: 1ms}"]
    _write_pull_request(job)
    with _annotated_node(job.lab):
        running = job.start("run", *words, variables=_actions(job.folder, summary))
        _create_events(job.lab, running)
        # a missed limit is a failure, so notifications are sent
        assert job.end(running) == 4, job.outputs
    run = job.run()
    for asked in (("report", str(run)), ("payload", str(run), "--output", str(job.artifacts / "payload.json"))):
        done = job.lab.run(job.artifacts, "perfanalysis", *asked)
        assert done.returncode == 0, done.stderr
    done = job.lab.run(job.artifacts, "perfanalysis", "history", "add", str(run), "--into", str(job.folder / "history"))
    assert done.returncode == 0, done.stderr

    assert _leaks(job) == []
    (events,) = run.rglob("events.jsonl")
    assert events.read_text().count("it was said: ") == len(PLANTED)
    (source,) = run.rglob("workload-00000.yml")
    assert yaml.safe_load(source.read_text())["metadata"]["annotations"].keys() >= ANNOTATIONS.keys()
    settings = yaml.safe_load((run / "settings.yml").read_text())["all"]
    assert settings["prometheus_url"]["value"] == "https://(secret)@thanos.example.com"
    # all files that were searched exist
    assert "threshold missed" in summary.read_text()
    assert all("threshold missed" in text for text in job.notifications())
    assert job.exported("manifest.json")


@pytest.mark.deep
def test_failed_job_contains_no_server_credentials(job: Job) -> None:
    document = yaml.safe_load(job.lab.kubeconfig.read_text())
    document["clusters"][0]["cluster"]["server"] = "https://robot:planted-server-word@127.0.0.1:9"
    kubeconfig = job.folder / "secrets" / "kubeconfig"
    kubeconfig.write_text(yaml.safe_dump(document))
    assert job("run", "-e", f"perf_kubeconfig={kubeconfig}", "-vvv") == 3, job.outputs
    assert list(job.artifacts.glob("custom-link-*.txt"))
    assert _leaks(job) == []
    assert all("has a user name or a password in it" in text for text in job.notifications())


@pytest.mark.deep
def test_refused_pull_request_leaves_no_credentials(job: Job) -> None:
    _write_pull_request(job)
    author, association, body = job.github.comments[-1]
    hostile = "\n".join(f"/var scale_test_count: {one.text.splitlines()[0]}" for one in PLANTED.values())
    job.github.comments[-1] = (author, association, f"{body}\n{hostile}\n/vra {PLANTED['GitHub'].text}")
    assert job("run") == 2, job.outputs
    assert "/vra" in (job.artifacts / "FAILURES").read_text()
    assert all("/vra" in text for text in job.notifications())
    assert _leaks(job) == []
