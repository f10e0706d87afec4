"""Run a workflow of jobs as AWX starts them, on a lab and a real S3 server, with only the project's copy."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml
from ansible_collections.psap.perf.plugins.module_utils.settings.project import Project
from ansible_collections.psap.perf.plugins.module_utils.settings.survey import survey
from kubernetes import client, config

from tests.integration.conftest import Lab
from tests.standins.awx.jobs import COMMIT, HOST, INVENTORY, Runner
from tests.standins.awx.surveys import accepted_variables, launched
from tests.standins.s3_server import IDENTITY, SECRET, S3Server, s3_server

REPOSITORY = Path(__file__).resolve().parents[3]
ACCOUNT = "awx"
FLOW = "playbooks/scale_test.yml"


@pytest.fixture(name="bearer")
def _bearer(shared_lab: Lab, tmp_path: Path) -> Iterator[dict[str, str]]:
    """Return the environment of AWX's own credential type: address, token and CA certificate, but no kubeconfig."""
    api = config.new_client_from_config(str(shared_lab.kubeconfig))
    core, rbac = client.CoreV1Api(api), client.RbacAuthorizationV1Api(api)
    subject = {"kind": "ServiceAccount", "name": ACCOUNT, "namespace": "default"}
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"}
    core.create_namespaced_service_account("default", {"metadata": {"name": ACCOUNT}})
    rbac.create_cluster_role_binding({"metadata": {"name": ACCOUNT}, "roleRef": role, "subjects": [subject]})
    token = core.create_namespaced_service_account_token(ACCOUNT, "default", {"spec": {}}).status.token
    kubeconfig = yaml.safe_load(shared_lab.kubeconfig.read_text())
    authority = tmp_path / "authority.pem"
    authority.write_bytes(Path(api.configuration.ssl_ca_cert).read_bytes())
    yield {
        "K8S_AUTH_HOST": kubeconfig["clusters"][0]["cluster"]["server"],
        "K8S_AUTH_API_KEY": token,
        "K8S_AUTH_VERIFY_SSL": "True",
        "K8S_AUTH_SSL_CA_CERT": str(authority),
    }
    rbac.delete_cluster_role_binding(ACCOUNT)
    core.delete_namespaced_service_account(ACCOUNT, "default")
    api.close()


@pytest.fixture(name="server", scope="module")
def _server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    with s3_server(tmp_path_factory.mktemp("s3")) as server:
        yield server


def launch_variables(**answers: Any) -> dict[str, Any]:
    """Return the variables of a launch: the answers, and the defaults of the other questions."""
    questions = survey(Project(REPOSITORY), "scale_test")["spec"]
    given, errors = accepted_variables(questions, False, answers)
    assert errors == []
    return launched(questions, {}, given)


@pytest.mark.lab
def test_workflow_runs_to_its_end(bearer: dict[str, str], server: S3Server, tmp_path: Path) -> None:
    store = server.bucket("awx")
    store_variables = {"export_to": "s3://awx/runs", "export_endpoint": server.endpoint, "export_region": ""}
    credentials = {**bearer, "AWS_ACCESS_KEY_ID": IDENTITY, "AWS_SECRET_ACCESS_KEY": SECRET}
    answers = launch_variables(
        perf_presets=["scale_test_smoke"], scale_test_count="3", scale_test_pods=1, scale_test_gang="false"
    )
    runner = Runner(tmp_path, REPOSITORY)
    inventory = runner.synced_inventory("local")
    passed: dict[str, Any] = {}

    for step, tags in (("prepare", "cleanup_before,prepare"), ("test", "test"), ("cleanup", "cleanup")):
        given = {**answers, **store_variables, **passed}
        # Ansible templates the template's own extra variables, but no answers
        own = {"clusters_patience": "{{ '3' ~ '0s' }}"}
        job = runner.run(FLOW, inventory, given, template=own, tags=tags, credentials=credentials, workflow=7)
        assert job.code == 0, job.text
        assert list(job.artifacts) == [f"perf_result_{step}"]
        # the path in the last line outlives the job
        assert job.text.rstrip().endswith(f"perfdrv replot {job.artifacts[f'perf_result_{step}']['export']}")
        passed |= job.artifacts

    result = passed["perf_result_test"]
    assert (result["verdict"], result["exit_code"], result["reason"]) == ("ok", 0, "")
    assert result["export"] == f"s3://awx/runs/{result['run']}"
    assert urlsplit(result["report_url"]).path == f"/awx/runs/{result['run']}/index.html"
    document = json.loads((server.root / "awx/runs" / result["run"] / "run.json").read_text())
    assert (document["site"], document["git"]) == (INVENTORY, {"commit": COMMIT, "dirty": False})
    settings = yaml.safe_load((server.root / "awx/runs" / result["run"] / "settings.yml").read_text())["all"]
    count = settings["scale_test_count"]
    assert (count["value"], count["origin"]) == (3, "command line")
    assert settings["scale_test_duration"]["origin"].startswith("presets/scale_test_smoke.yml:")
    # a question without an answer sets nothing
    assert settings["scale_test_workload_kind"]["origin"].startswith("default")
    assert settings["scale_test_queue"]["origin"].startswith("default")
    assert settings["clusters_patience"]["value"] == "30s"

    report = runner.run(
        "playbooks/report.yml",
        inventory,
        {**answers, **store_variables, **passed, "history_source": "s3://awx/history"},
        credentials=credentials,
    )
    assert report.code == 0, report.text
    assert report.artifacts["perf_result_report"]["verdict"].startswith("unjudged: no KPI of ")
    assert len(list((server.root / "awx/history/scale_test").glob("*.json"))) == 1
    judged = json.loads((server.root / "awx/runs" / result["run"] / "run.json").read_text())["verdict"]
    assert judged["history"]["pushed"] == "new"
    plots, url = (report.artifacts["perf_result_report"][name] for name in ("plots", "url"))
    assert url == f"{server.endpoint}/{plots.removeprefix('s3://')}/index.html"
    folder = server.root / plots.removeprefix("s3://")
    (plotted,) = json.loads((folder / "plots.json").read_text())["runs"]
    assert plotted["run"] == result["run"]
    assert (folder / plotted["report"]).is_file()
    store.close()


@pytest.mark.deep
@pytest.mark.lab
def test_cleanup_succeeds_after_a_cancelled_test(bearer: dict[str, str], shared_lab: Lab, tmp_path: Path) -> None:
    api = config.new_client_from_config(str(shared_lab.kubeconfig))
    batch = client.BatchV1Api(api)

    def submits() -> bool:
        return bool(batch.list_job_for_all_namespaces().items)

    runner = Runner(tmp_path, REPOSITORY)
    inventory = runner.synced_inventory("local")
    answers = launch_variables(perf_presets=["scale_test_smoke"], scale_test_count="120", scale_test_rate=2)

    test = runner.run(FLOW, inventory, answers, tags="test", credentials=bearer, workflow=7, cancel=submits)
    assert (test.code, test.artifacts) == (-9, {})
    assert submits()
    # neither another workflow nor a manual job gets the cluster
    other = runner.run(FLOW, inventory, answers, tags="cleanup", credentials=bearer, workflow=8)
    cleanup = runner.run(FLOW, inventory, answers, tags="cleanup", credentials=bearer, workflow=7)

    refused = other.artifacts["perf_result_cleanup"]
    assert other.code != 0
    assert (refused["verdict"], refused["exit_code"]) == ("failed", 3)
    assert f"a step of {HOST}/#/jobs/workflow/7" in refused["reason"]
    assert cleanup.code == 0, cleanup.text
    assert "waits: " in cleanup.text
    assert "errantly sent data" not in cleanup.text
    assert cleanup.artifacts["perf_result_cleanup"]["verdict"] == "ok"
    assert not submits()
    api.close()


@pytest.mark.deep
def test_report_names_each_failed_job(tmp_path: Path) -> None:
    runner = Runner(tmp_path, REPOSITORY)
    inventory = runner.synced_inventory("local")
    ok = {"run": "scale_test-1", "verdict": "ok", "exit_code": 0, "reason": "", "export": "", "report_url": ""}
    bad = {
        **ok,
        "run": "scale_test-2",
        "verdict": "failed",
        "exit_code": 4,
        "reason": "Judge: time_to_ready_p99 is 9 s",
    }
    held = {**ok, "run": "scale_test-3", "verdict": "failed", "exit_code": 3, "reason": "Check: in use by run x"}
    prepared = {"perf_result_prepare": ok}

    failed = runner.run(
        "playbooks/report.yml", inventory, {**prepared, "perf_result_test": bad, "perf_result_cleanup": ok}
    )
    cancelled = runner.run("playbooks/report.yml", inventory, {**prepared, "perf_result_cleanup": held})

    assert failed.code != 0
    assert "test (run scale_test-2) failed: Judge: time_to_ready_p99 is 9 s" in failed.text
    assert cancelled.code != 0
    output = " ".join(cancelled.text.split())
    assert "test has no result: AWX cancelled the job" in output
    assert "cleanup (run scale_test-3) failed: Check: in use by run x" in output


def test_refused_job_reports_why(tmp_path: Path) -> None:
    runner = Runner(tmp_path, REPOSITORY)
    inventory = runner.synced_inventory("local")
    # no cluster credential, and an answer that is not a number
    answers = launch_variables(scale_test_count="many")
    job = runner.run(FLOW, inventory, answers, tags="test", workflow=7)

    assert job.code != 0
    assert "command line: scale_test_count must be an int, but is the text 'many'" in " ".join(job.text.split())
    refused = job.artifacts["perf_result_test"]
    assert (refused["verdict"], refused["exit_code"]) == ("refused", 2)
    assert "scale_test_count must be an int" in refused["reason"]
    assert "is not exported: its files end with this job" in job.text
