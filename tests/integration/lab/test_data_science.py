"""Data Science Pipelines: a notebook on a real node creates runs, whose steps are pods of that node."""

from __future__ import annotations

import io
import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.psap.perf.plugins.module_utils.kube_api.pod_exec import run_in_pod
from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.access import Access
from perflab.cluster import real_node
from perflab.control_plane.products import pipelines
from perflab.processes.state import Lab
from perflab.worker.images import PYTHON

from tests.integration.conftest import Lab as RunLab
from tests.integration.driver.killing import kill_all

from .labs import Cluster, Labs, wait_for

pytestmark = pytest.mark.deep
NAME = "pipelines"
SPACE, APPLICATION, NOTEBOOK = "project", "sample", "workbench"
GROUP = "datasciencepipelinesapplications.opendatahub.io"
APPLICATIONS = (GROUP, "v1", SPACE, "datasciencepipelinesapplications")
NOTEBOOKS = ("kubeflow.org", "v1", SPACE, "notebooks")
RUN_NAME = "pipelines.kubeflow.org/run_name"
# what the notebook runs: uploads a pipeline, and creates a run of it with a parameter
SCRIPT = """
import json, pathlib, sys, urllib.request
token = pathlib.Path("/var/run/secrets/kubernetes.io/serviceaccount/token").read_text()
url, pipeline, word = sys.argv[1:]
def post(path, body, kind="application/json"):
    headers = {"Authorization": f"Bearer {token}", "Content-Type": kind}
    return json.load(urllib.request.urlopen(urllib.request.Request(f"{url}/apis/v2beta1/{path}", body, headers)))
head = '--b\\r\\nContent-Disposition: form-data; name="uploadfile"; filename="p.yaml"\\r\\n\\r\\n'
form = head + pipeline + "\\r\\n--b--\\r\\n"
made = post("pipelines/upload?name=" + word, form.encode(), "multipart/form-data; boundary=b")
body = {
    "display_name": "run of " + word,
    "pipeline_version_reference": {"pipeline_id": made["pipeline_id"]},
    "runtime_config": {"parameters": {"word": word}},
}
print(json.dumps(post("runs", json.dumps(body).encode())))
"""


@dataclass(frozen=True)
class Project:
    """The lab, its cluster, and the token of an account that may call the API."""

    lab: Lab
    cluster: Cluster
    token: str = field(repr=False)

    def call(self, path: str, token: str | None = None, method: str = "GET") -> dict[str, Any]:
        """Return the answer of the API to a request from this machine."""
        url = f"{pipelines.url(self.lab)}/{SPACE}/{APPLICATION}/apis/v2beta1/{path}"
        headers = {"Authorization": f"Bearer {self.token if token is None else token}"}
        with urllib.request.urlopen(urllib.request.Request(url, method=method, headers=headers)) as answer:
            found: dict[str, Any] = json.load(answer)
        return found


@pytest.fixture(scope="module")
def project(labs: Labs) -> Iterator[Project]:
    """Start a lab with an application and a notebook, whose account may call the API of the application."""
    lab = labs.up(NAME, "--nodes", "2", "--with", "argo", "--with", "worker")
    cluster = Cluster.of(lab)
    cluster.core.create_namespace({"metadata": {"name": SPACE}})
    kind = {"apiVersion": f"{GROUP}/v1", "kind": "DataSciencePipelinesApplication", "metadata": {"name": APPLICATION}}
    spec = {"objectStorage": {"minio": {"image": "quay.io/minio/minio", "pvcSize": "2Gi"}}}
    cluster.custom.create_namespaced_custom_object(*APPLICATIONS, {**kind, "spec": spec})
    cluster.core.create_namespaced_service_account(SPACE, {"metadata": {"name": NOTEBOOK}})
    wait_for("the application is ready", lambda: condition(cluster, "Ready") == "True")
    yield Project(lab, cluster, token_of(cluster, NOTEBOOK))
    assert labs.run("down", "--name", NAME).returncode == 0


def token_of(cluster: Cluster, account: str) -> str:
    request = {"spec": {"audiences": ["https://kubernetes.default.svc"]}}
    answer = cluster.core.create_namespaced_service_account_token(account, SPACE, request)
    return str(answer.status.token)


def condition(cluster: Cluster, kind: str) -> str:
    found = cluster.custom.get_namespaced_custom_object(*APPLICATIONS, APPLICATION).get("status", {})
    return next((str(each["status"]) for each in found.get("conditions", ()) if each["type"] == kind), "")


def pipeline() -> str:
    """Return a pipeline of two tasks, the second of which prints the parameter of the run."""
    command = ["python3", "-c", "import sys; print('said', sys.argv[1])", "{{$.inputs.parameters['text']}}"]
    text = {"parameters": {"text": {"componentInputParameter": "word"}}}
    return json.dumps(
        {
            "schemaVersion": "2.1.0",
            "pipelineInfo": {"name": "sample"},
            "root": {
                "inputDefinitions": {"parameters": {"word": {"parameterType": "STRING"}}},
                "dag": {
                    "tasks": {
                        "first": {"componentRef": {"name": "comp"}, "inputs": text},
                        "second": {
                            "componentRef": {"name": "comp"},
                            "inputs": text,
                            "dependentTasks": ["first"],
                        },
                    }
                },
            },
            "components": {"comp": {"executorLabel": "exec"}},
            "deploymentSpec": {"executors": {"exec": {"container": {"image": PYTHON, "command": command}}}},
        }
    )


def test_account_without_the_right_is_refused(project: Project) -> None:
    for token, status in (("", 401), ("no-token", 401), (project.token, 403)):
        with pytest.raises(urllib.error.HTTPError) as error:
            project.call("runs", token)
        assert error.value.code == status
        error.value.close()


def test_run_of_a_notebook_is_a_workflow_of_real_pods(project: Project) -> None:
    cluster = project.cluster
    allow(project)
    container = {"name": NOTEBOOK, "image": PYTHON, "command": ["python3", "-c", "import time; time.sleep(3600)"]}
    spec = {
        "nodeSelector": {real_node.REAL: "true"},
        "tolerations": [{"key": real_node.REAL, "operator": "Exists"}],
        "serviceAccountName": NOTEBOOK,
        "containers": [container],
    }
    kind = {"apiVersion": "kubeflow.org/v1", "kind": "Notebook", "metadata": {"name": NOTEBOOK}}
    cluster.custom.create_namespaced_custom_object(*NOTEBOOKS, {**kind, "spec": {"template": {"spec": spec}}})
    wait_for("the notebook runs", lambda: notebook(cluster).get("readyReplicas") == 1)
    wait_for("its state is that of its container", lambda: "running" in notebook(cluster).get("containerState", {}))
    url = f"http://ds-pipeline-{APPLICATION}.{SPACE}.svc.cluster.local:8888"
    output = io.BytesIO()
    done = run_in_pod(
        Access(kubeconfig=str(project.lab.kubeconfig)),
        (SPACE, f"{NOTEBOOK}-0", NOTEBOOK),
        ["python3", "-c", SCRIPT, url, pipeline(), "hello"],
        output,
        lambda: None,
    )
    assert done.exit_code == 0, done.errors
    run = json.loads(output.getvalue())
    assert run["state"] == "PENDING"
    wait_for("the run succeeds", lambda: project.call(f"runs/{run['run_id']}")["state"] == "SUCCEEDED")
    selector = f"pipeline/runid={run['run_id']}"
    (workflow,) = cluster.custom.list_namespaced_custom_object(
        "argoproj.io", "v1alpha1", SPACE, "workflows", label_selector=selector
    )["items"]
    assert workflow["metadata"]["annotations"][RUN_NAME] == "run of hello"
    name = workflow["metadata"]["name"]
    steps = cluster.core.list_namespaced_pod(SPACE, label_selector=f"workflows.argoproj.io/workflow={name}").items
    assert [pod.spec.node_name for pod in steps] == [real_node.NAME] * 2
    log = cluster.core.read_namespaced_pod_log(
        steps[0].metadata.name, SPACE, container="main", _preload_content=False
    ).data.decode()
    assert log.startswith("said hello\n")


def allow(project: Project) -> None:
    """Let the notebook's account call the API, and wait until it may."""
    rbac = "rbac.authorization.k8s.io"
    rule = {"apiGroups": [GROUP], "resources": ["datasciencepipelinesapplications/api"], "verbs": ["get", "create"]}
    role = {"apiVersion": f"{rbac}/v1", "kind": "Role", "metadata": {"name": NOTEBOOK}, "rules": [rule]}
    custom = project.cluster.custom
    custom.create_namespaced_custom_object(rbac, "v1", SPACE, "roles", role)
    binding = {
        "apiVersion": f"{rbac}/v1",
        "kind": "RoleBinding",
        "metadata": {"name": NOTEBOOK},
        "roleRef": {"apiGroup": rbac, "kind": "Role", "name": NOTEBOOK},
        "subjects": [{"kind": "ServiceAccount", "name": NOTEBOOK, "namespace": SPACE}],
    }
    custom.create_namespaced_custom_object(rbac, "v1", SPACE, "rolebindings", binding)

    def allowed() -> bool:
        try:
            return "runs" in project.call("runs")
        except urllib.error.HTTPError as error:
            error.close()
            return False

    wait_for("the account may call the API", allowed)


def notebook(cluster: Cluster) -> dict[str, Any]:
    status: dict[str, Any] = cluster.custom.get_namespaced_custom_object(*NOTEBOOKS, NOTEBOOK).get("status", {})
    return status


def test_stopped_notebook_has_no_pod(project: Project) -> None:
    cluster = project.cluster
    patch = {"metadata": {"annotations": {"kubeflow-resource-stopped": "2026-11-28T00:00:00Z"}}}
    cluster.custom.patch_namespaced_custom_object(*NOTEBOOKS, NOTEBOOK, patch)
    selector = f"notebook-name={NOTEBOOK}"
    wait_for("its pod is gone", lambda: not cluster.core.list_namespaced_pod(SPACE, label_selector=selector).items)


def test_deleted_application_leaves_nothing(project: Project) -> None:
    cluster = project.cluster
    cluster.custom.delete_namespaced_custom_object(*APPLICATIONS, APPLICATION)
    selector = f"dspa={APPLICATION}"

    def left() -> list[Any]:
        found = [*cluster.apps.list_namespaced_deployment(SPACE, label_selector=selector).items]
        found += cluster.core.list_namespaced_secret(SPACE, label_selector=selector).items
        return [*found, *cluster.core.list_namespaced_persistent_volume_claim(SPACE, label_selector=selector).items]

    wait_for("its objects are deleted", lambda: not left())


def test_killed_flow_is_resumed_and_leaves_nothing(project: Project, tmp_path: Path) -> None:
    real = RunLab(NAME, project.lab.kubeconfig)
    words = ["run", "pipelines", "-p", "pipelines_lab", "-e", json.dumps({"perf_kubeconfig": str(real.kubeconfig)})]
    for setting in ("users=2", "per_user=2", "runs=1"):
        words += ["-s", f"pipelines_{setting}"]
    driver = real.start(tmp_path, "perfdrv", *words)
    wait_for("the users run pipelines", lambda: workflows(project.cluster))
    kill_all(tmp_path)
    driver.communicate()
    resumed = real.run(tmp_path, "perfdrv", "run", "--resume", "latest")
    assert resumed.returncode == 0, resumed.stdout + resumed.stderr
    (run,) = (path for path in tmp_path.iterdir() if path.is_dir() and not path.is_symlink())
    attempts = json.loads((run / "run.json").read_text())["attempts"]
    assert [one["status"] for one in attempts] == ["interrupted", "ok"]
    (cell,) = run.glob("*__cell__0*/pipelines.json")
    runs = json.loads(cell.read_text())["runs"]
    assert sorted((one["user"], one["phase"]) for one in runs) == [(0, "Succeeded")] * 2 + [(1, "Succeeded")] * 2
    assert not workflows(project.cluster)


def workflows(cluster: Cluster) -> list[Any]:
    """Return the Workflows of the flow's projects."""
    found = cluster.custom.list_cluster_custom_object("argoproj.io", "v1alpha1", "workflows")["items"]
    return [one for one in found if one["metadata"]["namespace"].startswith("psap-perf-pipelines-")]
