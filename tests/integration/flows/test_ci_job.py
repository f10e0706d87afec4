"""From a pull request to a verdict on the lab: the job runs, exports, notifies, and is plotted without a cluster."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from xml.etree import ElementTree

import pytest
import yaml
from kubernetes import client, config
from perfci.jobs.steps import NAMES

from tests.integration.conftest import PROGRAMS, Lab
from tests.polling import wait_until
from tests.schemas import check_file
from tests.standins.github_api import PAGE

from .conftest import PLACE, Job

NAMESPACE = "psap-perf-scale-test"


def _left_in_cluster(lab: Lab) -> list[str]:
    """Return the names of the flow's workloads in the cluster."""
    config.load_kube_config(str(lab.kubeconfig))
    return [job.metadata.name for job in client.BatchV1Api().list_namespaced_job(NAMESPACE).items]


def _replot(job: Job) -> subprocess.CompletedProcess[str]:
    """Plot the export on a machine with only the store: no project, no lab, no kubeconfig."""
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


def test_pull_request_job_exports_notifies_and_is_plotted_elsewhere(job: Job) -> None:
    assert job("run") == 0, job.outputs
    run = job.run()
    assert job.count((run / "settings.yml").read_bytes()) == (50, f"{job.github.comment_url(0)}:2")
    (report,) = run.rglob("accounting.json")
    assert json.loads(report.read_text())["completed"] == 50
    exported = json.loads(job.exported("run.json"))
    assert (exported["status"], exported["site"], bool(exported["ended"])) == ("ok", "lab", True)
    for text in job.notifications():
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


@pytest.mark.deep
def test_steps_with_separate_folders_share_one_exported_run(job: Job) -> None:
    codes = {name: job("step", name, artifacts=job.folder / name) for name in NAMES}
    assert set(codes.values()) == {0}, job.outputs
    (name,) = {job.run(job.folder / step).name for step in NAMES}
    exported = json.loads(job.exported("run.json"))
    assert (exported["id"], exported["status"], len(exported["attempts"])) == (name, "ok", 4)
    assert job.count(job.exported("settings.yml"))[0] == 50
    assert job.exported("report/index.html")
    for text in job.notifications():
        assert f"{PLACE}/{name}" in text
    assert _left_in_cluster(job.lab) == []
    assert job.leaks() == []


@pytest.mark.deep
def test_job_at_its_time_limit_leaves_a_clean_cluster_and_files(job: Job) -> None:
    job.github.comments[0] = ("ada", "MEMBER", "/test scale-test\n/var scale_test_duration: 10m")
    process = job.start("run", variables={"PERF_CI_GRACE": "30"})
    wait_until(lambda: _left_in_cluster(job.lab), during=process)
    process.send_signal(signal.SIGTERM)
    assert job.end(process) == 130
    assert "interrupted (exit code 130)" in (job.artifacts / "FINISHED").read_text()
    run = json.loads((job.run() / "run.json").read_text())
    assert (run["status"], bool(run["finalized"])) == ("interrupted", True)
    assert _left_in_cluster(job.lab) == []
    assert json.loads(job.exported("run.json"))["status"] == "interrupted"
    assert all("interrupted" in text for text in job.notifications())


@pytest.mark.deep
def test_step_after_a_killed_one_cleans_up(job: Job) -> None:
    job.github.comments[0] = ("ada", "MEMBER", "/test scale-test\n/var scale_test_duration: 10m")
    process = job.start("step", "test", variables={"PERF_CI_GRACE": "1"})
    wait_until(lambda: _left_in_cluster(job.lab), during=process)
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(1)
    except subprocess.TimeoutExpired:
        process.kill()
    process.communicate()
    assert process.returncode in (130, -signal.SIGKILL)
    assert [job("step", name) for name in ("post_cleanup", "export")] == [0, 0], job.outputs
    assert _left_in_cluster(job.lab) == []
    run = json.loads(job.exported("run.json"))
    assert (run["status"], bool(run["finalized"])) == ("interrupted", True)
    assert "interrupted" in (job.artifacts / "FAILURES").read_text()
    assert all("interrupted" in text for text in job.notifications())


@pytest.mark.deep
def test_unreachable_cluster_is_not_a_failed_test(job: Job) -> None:
    kubeconfig = yaml.safe_load(job.lab.kubeconfig.read_text())
    kubeconfig["clusters"][0]["cluster"]["server"] = "https://127.0.0.1:9"
    gone = job.folder / "gone.kubeconfig"
    gone.write_text(yaml.safe_dump(kubeconfig))
    assert job("run", "-e", f"perf_kubeconfig={gone}") == 3, job.outputs
    assert "cluster unreachable or unfit (exit code 3)" in (job.artifacts / "FINISHED").read_text()
    (failure,) = (job.artifacts / "FAILURES").read_text().splitlines()
    assert failure.endswith("exit code 3: cluster unreachable or unfit")
    (junit,) = job.artifacts.glob("junit_*.xml")
    document = ElementTree.fromstring(junit.read_text())
    assert (document.get("failures"), document.get("errors")) == ("0", "2")
    for text in job.notifications():
        assert "failed: cluster unreachable or unfit" in text
        assert "cannot reach the cluster at https://127.0.0.1:9" in text
    assert json.loads(job.exported("run.json"))["exit_code"] == 3
