"""Ten nights of a periodic job on the lab, the last four with a slow admission webhook, and a pull request after them.

The webhook is the real cause: the API server waits for its answer before it creates a Job or a Pod.
"""

from __future__ import annotations

import base64
import contextlib
import http.server
import json
import ssl
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from kubernetes import client, config
from perfanalysis.results.history.folder import load
from perflab.control_plane.certificates import Authority

from tests.integration.conftest import PROGRAMS, PROJECT, Lab
from tests.integration.flows.conftest import PROW, Job
from tests.standins.github_api import BOT
from tests.standins.http_servers import Quiet

pytestmark = pytest.mark.deep

NAME = "psap-perf-slow-admission"
QUIET_NIGHTS, SLOW_NIGHTS = 6, 4
DELAY_S = 8.0
COUNT = 20
# the time of a request is judged, with a margin of 100 %, because other programs on the machine slow down the lab too
WATCH = "- {kpi: answer_p50, margin: 100%}\n- {kpi: answer_p99, margin: 100%}\n"


class _Slow(Quiet, http.server.BaseHTTPRequestHandler):
    """Allow every request after a delay."""

    def do_POST(self) -> None:
        review = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        time.sleep(DELAY_S)
        answer = {**review, "response": {"uid": review["request"]["uid"], "allowed": True}}
        content = json.dumps({name: answer[name] for name in ("apiVersion", "kind", "response")}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


@contextlib.contextmanager
def slow_admission(lab: Lab, folder: Path) -> Iterator[None]:
    """Let the API server ask a webhook before it creates a Job or a Pod."""
    authority = Authority(folder / "pki")
    pair = authority.issue_server("server", [])
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Slow)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pair.certificate, pair.key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    config.load_kube_config(str(lab.kubeconfig))
    api = client.AdmissionregistrationV1Api()
    rule = client.V1RuleWithOperations(
        api_groups=["", "batch"], api_versions=["v1"], operations=["CREATE"], resources=["jobs", "pods"]
    )
    webhook = client.V1ValidatingWebhook(
        name="slow.psap-perf.example.com",
        admission_review_versions=["v1"],
        side_effects="None",
        timeout_seconds=30,
        rules=[rule],
        client_config=client.AdmissionregistrationV1WebhookClientConfig(
            url=f"https://127.0.0.1:{server.server_port}/",
            ca_bundle=_base64(authority.pair.certificate),
        ),
    )
    body = client.V1ValidatingWebhookConfiguration(metadata=client.V1ObjectMeta(name=NAME), webhooks=[webhook])
    api.create_validating_webhook_configuration(body)
    try:
        # the API server reads the configuration after it was created
        time.sleep(2)
        yield
    finally:
        api.delete_validating_webhook_configuration(NAME)
        server.shutdown()
        server.server_close()


def _base64(path: Path) -> str:
    return base64.b64encode(path.read_bytes()).decode()


def run_job(job: Job, kind: str, name: str, **settings: Any) -> int:
    """Run a job of this kind with dedicated folders; return its exit code."""
    environment = job.environment(job.folder / name)
    if kind == "periodic":
        prow = json.loads(PROW.read_text(encoding="utf-8"))["periodic"]["environment"]
        environment = {key: value for key, value in environment.items() if not key.startswith("PULL_")} | prow
    environment["SHARED_DIR"] = str(job.folder / f"shared-{name}")
    watch = job.folder / "watch.yml"
    watch.write_text(WATCH)
    mine = {"history_source": str(job.folder / "history"), "regress_watch": str(watch), "export_to": ""}
    known = {**job.settings, **mine, **settings}
    options = ["-p", "scale_test_smoke", "--site", "lab", "-e", json.dumps(known)]
    ended = subprocess.run(
        [str(PROGRAMS / "perfdrv"), "ci", "run", "scale_test", *options],
        cwd=PROJECT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert "Traceback" not in ended.stdout, ended.stdout
    job.outputs.append(ended.stdout)
    return ended.returncode


def run_night(job: Job, number: int) -> int:
    """Run a periodic job that notifies on changes; return its exit code."""
    settings = {"notify_github": False, "notify_policy": "change", "scale_test_count": COUNT}
    return run_job(job, "periodic", f"night-{number:02d}", **settings)


def test_nightly_job_fails_and_reports_when_the_api_server_is_slower(job: Job) -> None:
    quiet = [run_night(job, number) for number in range(QUIET_NIGHTS)]
    assert quiet == [0] * QUIET_NIGHTS, job.outputs
    first_messages = len(job.slack.messages)
    with slow_admission(job.lab, job.folder):
        slow = [run_night(job, QUIET_NIGHTS + number) for number in range(SLOW_NIGHTS)]
        job.github.comments = [("ada", "MEMBER", f"/test scale-test\n/var scale_test_count: {COUNT}")]
        presubmit = [run_job(job, "presubmit", f"pull-{number}") for number in range(2)]

    # the change is found in its first or, on a busy machine, second night; the next nights belong to the same change
    found = slow.index(4)
    assert found <= 1, job.outputs
    assert slow[found:] == [4] * (SLOW_NIGHTS - found), job.outputs
    night = job.folder / f"night-{QUIET_NIGHTS + found:02d}"
    assert "(exit code 4)" in (night / "FINISHED").read_text()
    (failure,) = (night / "FAILURES").read_text().splitlines()
    assert "worse than before" in failure
    (run,) = night.glob("scale_test-*")
    verdict = json.loads((run / "run.json").read_text())["verdict"]
    assert (verdict["status"], verdict["history"]["runs"], verdict["history"]["pushed"]) == (
        "worse",
        QUIET_NIGHTS + found,
        "new",
    )
    assert "KPIs that moved" in (run / "report" / "index.html").read_text()
    (junit,) = night.glob("junit_*.xml")
    assert ".history" in junit.read_text()

    # quiet nights that are like the one before are not notified
    assert len(job.slack.messages) >= first_messages + SLOW_NIGHTS - found
    assert "scale_test: regression" in job.slack.messages[-1]["text"]

    # pull requests are judged by the nights, and one comment is updated in place
    assert presubmit == [4, 4], job.outputs
    (comment,) = (body for author, _association, body in job.github.comments if author == BOT[0])
    assert "| KPI | verdict | before, now | change | 95 % interval | Hedges' g | since |" in comment
    assert len(load(job.folder / "history").documents) == QUIET_NIGHTS + SLOW_NIGHTS
    assert job.leaks() == []
