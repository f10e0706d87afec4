"""Run the flows that serve models in a lab, and read their results."""

from __future__ import annotations

import html
import json
import re
import signal
import subprocess
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kubernetes.client import AutoscalingV2Api
from perflab.processes.state import Lab

from tests.integration.conftest import Lab as RunLab
from tests.integration.driver.killing import kill_all, wait_until_all_have_ended
from tests.integration.load_clients import guidellm

from .labs import Cluster, wait_for
from .serving import GROUP, NAMESPACE, RUNTIME, SERVICE, VERSIONS
from .workloads import PREFIX

Settings = dict[str, Any]


def model_annotations(**times: float | str) -> dict[str, str]:
    """Return annotations that set the latencies, slots and failures of a lab's model server."""
    return {f"{PREFIX}model": json.dumps(times)}


def llm_d_settings(folder: Path, **settings: Any) -> Settings:
    """Return settings of the flow llm_d with a client of the tests, in *folder*, in place of guidellm."""
    return {
        "llm_d_model_uri": "hf://facebook/opt-125m",
        "llm_d_model_name": "opt",
        "llm_d_gateway_class": "lab",
        "llm_d_gateway_namespace": NAMESPACE,
        "llm_d_rate": [2],
        "llm_d_guidellm_program": guidellm(folder),
        **settings,
    }


def flow_command(lab: Lab, flow: str, settings: Settings, *options: str) -> tuple[str, ...]:
    extra = {"perf_kubeconfig": str(lab.kubeconfig), **settings}
    return ("perfdrv", "run", flow, *options, "-e", json.dumps(extra))


def run_flow(lab: Lab, runs: Path, flow: str, settings: Settings, *options: str) -> subprocess.CompletedProcess[str]:
    """Run a flow with settings and further options to its end, successful or not."""
    return RunLab(lab.name, lab.kubeconfig).run(runs, *flow_command(lab, flow, settings, *options))


def start_flow(lab: Lab, runs: Path, flow: str, settings: Settings, *options: str) -> subprocess.Popen[str]:
    return RunLab(lab.name, lab.kubeconfig).start(runs, *flow_command(lab, flow, settings, *options))


def successful_run(lab: Lab, runs: Path, flow: str, settings: Settings, *options: str) -> Path:
    """Run a flow, which must succeed as the only run in *runs*; return its run directory."""
    ran = run_flow(lab, runs, flow, settings, *options)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return only_run(runs)


def only_run(runs: Path) -> Path:
    (run,) = (path for path in runs.iterdir() if path.is_dir() and not path.is_symlink())
    return run


def read_kpis(run: Path) -> list[dict[str, Any]]:
    document: dict[str, Any] = json.loads((run / "report/kpis.json").read_text())
    kpis: list[dict[str, Any]] = document["kpis"]
    return kpis


def kpi_values(run: Path, *labels: str) -> Mapping[tuple[str | None, ...], Any]:
    """Return the values by name and these labels, None where a KPI lacks one."""
    return {(one["name"], *map(one["labels"].get, labels)): one["value"] for one in read_kpis(run)}


def sent_tokens(run: Path, load: str) -> int:
    """Return the tokens of all answers of the loads with these users, as the client counted them."""
    users = int(load.split()[0])
    documents = (json.loads(path.read_text()) for path in run.rglob("output/output.json"))
    loads = [one for one in documents if one["config"]["load_options"]["concurrency"] == users]
    assert loads
    return sum(one["output_tokens"] for each in loads for one in each["results"])


def check_refused(lab: Lab, runs: Path, flow: str, settings: Settings, message: str, *options: str) -> None:
    refused = run_flow(lab, runs, flow, settings, *options)
    assert refused.returncode == 2, refused.stdout + refused.stderr
    assert message in refused.stdout + refused.stderr


def check_mode_creates_nothing(lab: Lab, cluster: Cluster, runs: Path, flow: str) -> None:
    namespace = "check-mode"
    successful_run(lab, runs, flow, {f"{flow}_namespace": namespace}, "--check")
    assert namespace not in [each.metadata.name for each in cluster.core.list_namespace().items]


def check_no_model_is_left(cluster: Cluster, namespace: str = "psap-perf-kserve") -> None:
    for plural in (SERVICE, RUNTIME):
        left = cluster.custom.list_namespaced_custom_object(GROUP, VERSIONS[plural], namespace, plural)
        assert left["items"] == []


def check_no_autoscaler_is_left(cluster: Cluster, namespace: str = "psap-perf-kserve") -> None:
    """Wait until the garbage collector has deleted the autoscalers of deleted models."""
    autoscaling = AutoscalingV2Api(cluster.core.api_client)
    wait_for(
        "no autoscaler is left",
        lambda: not autoscaling.list_namespaced_horizontal_pod_autoscaler(namespace).items,
    )


def kill_flow(running: subprocess.Popen[str], runs: Path) -> None:
    """Kill -9 every process of a flow."""
    kill_all(runs)
    running.communicate()


def interrupt_flow(running: subprocess.Popen[str], runs: Path) -> None:
    """Press Ctrl-C once; the finalizers of the flow run, and no process is left."""
    running.send_signal(signal.SIGINT)
    output, _ = running.communicate()
    assert running.returncode == 130, output
    wait_until_all_have_ended(runs)


def resumed_run(lab: Lab, runs: Path) -> Path:
    """Resume the only run in *runs*, whose first attempt was interrupted, to its successful end."""
    resumed = RunLab(lab.name, lab.kubeconfig).run(runs, "perfdrv", "run", "--resume", "latest")
    assert resumed.returncode == 0, resumed.stdout + resumed.stderr
    run = only_run(runs)
    attempts = json.loads((run / "run.json").read_text())["attempts"]
    assert [one["status"] for one in attempts] == ["interrupted", "ok"]
    return run


def check_reported(run: Path, message: str, reason: str) -> None:
    """Check that requests failed for *reason*, and that the error of the cell contains *message*."""
    (cell,) = run.glob("*__cell__0/cell.json")
    assert message in json.loads(cell.read_text())["error"]
    assert 0 < kpi_values(run)["requests_failed_ratio",] < 1
    page = html.unescape((run / "report/index.html").read_text())
    assert "Why requests failed" in page
    assert reason in page


def check_knee_is_explained_by_the_queue(run: Path) -> None:
    page = html.unescape((run / "report/index.html").read_text())
    assert re.search(
        r"On the server, from the knee \(\d users?\) to 16 users: waiting requests, mean: 0\.\d to 1", page
    )


def start_loaded_flow(
    lab: Lab, cluster: Cluster, runs: Path, flow: str, settings: Settings, *options: str
) -> subprocess.Popen[str]:
    """Start a flow; return once the lab's model servers have answered more than ten of its requests."""
    served = str(cluster.core.read_namespaced_config_map("perflab", "kube-system").data["models-url"])
    before = answered_requests(served)
    running = start_flow(lab, runs, flow, settings, *options)
    wait_for("it is under load", lambda: answered_requests(served) > before + 10)
    return running


def answered_requests(served: str) -> float:
    """Return the number of requests that the lab's model servers have answered, for all models."""
    with urllib.request.urlopen(f"{served}/metrics", timeout=60) as answer:
        lines = answer.read().decode().splitlines()
    return sum(float(line.split()[-1]) for line in lines if line.startswith("vllm:request_success_total"))
