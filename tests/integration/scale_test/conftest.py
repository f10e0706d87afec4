"""A lab for the scale test's own tests, and sessions on it without Ansible."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.endpoint import ApiEndpoint, load_endpoint
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.api import ApiClient
from ansible_collections.psap.perf.plugins.module_utils.scale_test.session import requests
from ansible_collections.psap.perf.plugins.module_utils.scale_test.session.session import SessionEnd
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitting.churn import ChurnPlan
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads.assortment import Priority, Tenant
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads.device_claims import DeviceClaim
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads.trace import Trace

from tests.data.loads import load
from tests.integration.conftest import Lab as SharedLab
from tests.integration.conftest import lab_with
from tests.polling import PATIENCE_S, wait_until

PROJECT = Path(__file__).resolve().parents[3]
TEMPLATES = PROJECT / "collections/ansible_collections/psap/perf/roles/scale_test_submit/templates"
PROGRAMS = Path(sys.executable).parent


@dataclass(frozen=True)
class Lab:
    """A running lab."""

    folder: Path

    @property
    def kubeconfig(self) -> str:
        return str(self.folder / "kubeconfig")

    def pid(self, component: str) -> int:
        document = json.loads((self.folder / "lab.json").read_text())
        return int(document["pids"][component]["pid"])

    def client(self) -> ApiClient:
        return ApiClient(load_endpoint(self.kubeconfig))

    def playbook(self, runs: Path, command: str, **arguments: Any) -> subprocess.Popen[str]:
        """Start one command through Ansible."""
        words = ["playbooks/toolbox.yml", "-i", "inventories/lab", "-e", f"perf_command={command}"]
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("ANSIBLE_", "PERF_"))}
        return subprocess.Popen(
            [str(PROGRAMS / "ansible-playbook"), *words, "-e", json.dumps(arguments)],
            cwd=PROJECT,
            env={**kept, "PERF_LAB": self.folder.name, "PERF_RUNS_DIR": str(runs), "ANSIBLE_NOCOLOR": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )


@dataclass
class Submission:
    """A submission of small Jobs to a dedicated namespace, with its files in a dedicated folder."""

    folder: Path
    lab: Lab
    count: int = 10
    kind: str = "job"
    pods: int = 1
    duration_s: float = 1.0
    rate: float = 0.0
    submitters: int = 1
    submitters_as: str = "processes"
    submitters_image: str = ""
    submitters_node_selector: dict[str, str] = field(default_factory=dict)
    submitters_ready_timeout: float = PATIENCE_S
    template: Path | None = None
    queue: str = ""
    trace: Trace | None = None
    tenants: list[Tenant] = field(default_factory=list)
    multikueue_clusters: dict[str, str] = field(default_factory=dict)
    priorities: list[Priority] = field(default_factory=list)
    patch: dict[str, Any] = field(default_factory=dict)
    lifecycles: dict[str, Any] = field(default_factory=dict)
    gang: bool = False
    scheduler_name: str = ""
    topology: str = "none"
    claims: list[DeviceClaim] = field(default_factory=list)
    churn: ChurnPlan = field(default_factory=ChurnPlan)
    gpus: int = 1
    pvc_size: str = ""
    metrics_interval_s: float = 0.0
    timeout_s: float = PATIENCE_S
    endpoint: ApiEndpoint | None = None

    def request(self) -> requests.SubmitRequest:
        for name in ("src", "artifacts"):
            (self.folder / name).mkdir(exist_ok=True)
        return requests.SubmitRequest(
            place=self.place("own"),
            template=self.template or TEMPLATES / f"{self.kind}.yml.j2",
            load=load(
                queue=self.queue,
                gpus=self.gpus,
                pvc_size=self.pvc_size,
                patch=self.patch,
                lifecycles=self.lifecycles,
                gang=self.gang,
                scheduler_name=self.scheduler_name,
                topology=self.topology,
                claims=tuple(self.claims),
                churn_percent=self.churn.percent,
                churn_period=self.churn.period_s,
                churn_rounds=self.churn.rounds,
                count=self.count,
                pods=self.pods,
                duration=self.duration_s,
                connections=8,
                submitters=self.submitters,
                submitters_as=self.submitters_as,
                submitters_image=self.submitters_image,
                submitters_node_selector=self.submitters_node_selector,
                submitters_ready_timeout=self.submitters_ready_timeout,
                rate=self.rate,
                namespace=self.namespace,
                tenants=tuple(self.tenants),
                multikueue_clusters=self.multikueue_clusters,
                priorities=tuple(self.priorities),
                timeout=self.timeout_s,
                metrics_interval=self.metrics_interval_s,
            ),
            trace=self.trace,
        )

    @property
    def namespace(self) -> str:
        return f"test-{self.folder.name.replace('_', '-')[:40]}"

    def place(self, directory: str) -> requests.Place:
        return requests.Place(str(self.folder), directory, self.folder / "src", self.folder / "artifacts")

    def crowd(self) -> None:
        """Use 30 workloads of whole nodes, each sixth of high priority; the last of those finds all 20 nodes busy.

        Duration and rate are long and low enough for this to hold on a busy machine too.
        """
        self.priorities = [Priority("low", 0, weight=5), Priority("high", 1000)]
        self.count, self.gpus, self.rate, self.duration_s = 30, 8, 2.0, 30.0

    async def run(self, interrupted: Callable[[], bool] = lambda: False) -> SessionEnd:
        endpoint = self.endpoint or load_endpoint(self.lab.kubeconfig)
        return await requests.submit(endpoint, self.request(), interrupted)

    def submit(self) -> SessionEnd:
        return asyncio.run(self.run())

    async def delete_namespaces(self) -> None:
        """Delete its namespaces, because Deployments would hold their GPUs; do not wait for the end."""
        async with self.lab.client() as client:
            for namespace in {self.namespace, *(tenant.namespace for tenant in self.tenants)}:
                answer = await client.request("DELETE", f"/api/v1/namespaces/{namespace}")
                assert answer.succeeded or answer.status == 404, answer.message()

    async def wait_answered(self, count: int) -> None:
        """Wait until this many workloads have a response."""
        path = self.folder / "artifacts" / "submissions.jsonl"
        while not path.exists() or len(path.read_text().splitlines()) < count:
            await asyncio.sleep(0.05)

    def rows(self, name: str) -> list[dict[str, Any]]:
        return read_rows(self.folder / "artifacts" / f"{name}.jsonl")

    def document(self, name: str) -> dict[str, Any]:
        document: dict[str, Any] = json.loads((self.folder / "artifacts" / f"{name}.json").read_text())
        return document


def read_rows(path: Path) -> list[dict[str, Any]]:
    """Return the rows of a journal."""
    return [json.loads(line) for line in path.read_text().splitlines()]


@contextmanager
def running_lab(name: str, *options: str) -> Iterator[Lab]:
    """Start a lab of 20 nodes."""
    perflab = [str(PROGRAMS / "perflab")]
    subprocess.run([*perflab, "up", "--name", name, "--nodes", "20", *options], check=True)
    try:
        found = subprocess.run([*perflab, "kubeconfig", "--name", name], check=True, capture_output=True, text=True)
        yield Lab(Path(found.stdout.strip()).parent)
    finally:
        subprocess.run([*perflab, "down", "--name", name], check=True)


@pytest.fixture(name="lab", scope="package")
def _lab(shared_lab: SharedLab) -> Lab:
    return Lab(shared_lab.kubeconfig.parent)


@pytest.fixture(scope="package")
def kinds_lab() -> Iterator[Lab]:
    """Start a lab of 20 nodes with the controllers of all shipped kinds of workloads except PyTorchJobs."""
    # an etcd that is killed keeps all data
    products = [
        "--fsync",
        *(word for product in ("kueue", "jobset", "lws", "trainer", "ray") for word in ("--with", product)),
    ]
    with lab_with("PERF_TEST_KINDS_LAB", f"scaletest-kinds-{os.getpid()}", "--nodes", "20", *products) as lab:
        yield Lab(lab.kubeconfig.parent)


@pytest.fixture
def quiet(lab: Lab) -> None:
    """Wait until the pods that earlier tests left on the lab have ended."""

    async def at_work() -> int:
        selector = "status.phase!=Succeeded,status.phase!=Failed"
        async with lab.client() as client:
            answer = await client.request("GET", f"/api/v1/pods?fieldSelector={selector}")
        return len(answer.document()["items"])

    wait_until(lambda: asyncio.run(at_work()) == 0)


@pytest.fixture(name="submission")
def _submission(lab: Lab, tmp_path: Path) -> Iterator[Submission]:
    made = Submission(tmp_path, lab)
    yield made
    asyncio.run(made.delete_namespaces())
