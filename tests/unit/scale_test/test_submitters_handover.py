"""The coordinator passes the plan, credentials and shares of connections to submitting processes."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError, UsageError
from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.endpoint import ApiEndpoint
from ansible_collections.psap.perf.plugins.module_utils.scale_test.base.instants import RunClock
from ansible_collections.psap.perf.plugins.module_utils.scale_test.base.journal import Follower
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.handover import (
    decode_endpoint,
    encode_endpoint,
)
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitters.gathering import shares
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitters.plan import read_plan, write_plan
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitters.process import LocalProcesses
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitting.submitting import OwnSubmission
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads.arrivals import ArrivalSettings
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads.assortment import (
    AssortedWorkloads,
    Assortment,
    Tenant,
    Variant,
)
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads.templates import WorkloadPlan, Workloads

from .fake_api import fake_api
from .sessions import JOBS_BY_KIND, SUBMISSION, Scene, eventually
from .submitters import pids

pytestmark = pytest.mark.slow


def test_credentials_are_in_no_file_and_no_command_line(tmp_path: Path) -> None:
    secret, key = "token-8f1c-of-nobody", "key-77ab-of-nobody"

    async def looked() -> list[str]:
        async with fake_api() as api:
            scene = Scene(tmp_path, count=20, rate=20, submitters=2)
            scene.api = api
            api.complete_jobs = True
            endpoint = ApiEndpoint(api.server, token=secret, client_key=key.encode())
            scene.starter = lambda: LocalProcesses(endpoint)  # type: ignore[method-assign]  # one that has credentials
            running = asyncio.create_task(scene.run(api))
            await eventually(lambda: api.posts > 4)
            found = [
                Path(f"/proc/{pid}/{name}").read_text() for pid in pids(tmp_path) for name in ("cmdline", "environ")
            ]
            assert (await running).accounting.completed == 20
            return found

    texts = asyncio.run(looked()) + [path.read_text() for path in tmp_path.rglob("*") if path.is_file()]
    assert len(texts) > 10
    assert not [text for text in texts if secret in text or key in text]


def test_endpoint_round_trips_to_the_submitter(tmp_path: Path) -> None:
    endpoint = ApiEndpoint(
        "https://api:6443",
        certificate_authority=b"ca",
        server_name="api",
        client_certificate=b"\xff",
        client_key=b"key",
        token="token",
        token_file=tmp_path / "token",
        proxy="http://proxy:3128",
    )
    assert decode_endpoint(encode_endpoint(endpoint)) == endpoint


def test_submitter_without_an_endpoint_uses_the_environments_cluster(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "missing"))
    with pytest.raises(ClusterError, match="does not exist"):
        decode_endpoint(b"")


PART = "{{ gpus }}"
WITH_PART = """
apiVersion: batch/v1
kind: Job
spec:
  template:
    spec: {containers: [{name: "c-{{ index % 2 }}", resources: {limits: {nvidia.com/gpu: {% include "part" %}}}}]}
"""


def test_plan_renders_the_coordinators_workloads(tmp_path: Path) -> None:
    (tmp_path / "part").write_text(PART)

    def make(variant: Variant) -> Workloads:
        variables = {"gpus": 1 if variant.namespace == "a" else 4}
        plan = WorkloadPlan(WITH_PART, "t", variant.namespace, 1, variables, {"x": "1"}, {"spec": {"y": 2}}, tmp_path)
        return Workloads(plan, SUBMISSION)

    workloads = AssortedWorkloads(Assortment([Tenant("a", weight=2), Tenant("b")]), 7, make)
    arrivals = ArrivalSettings(rate=3, spacing="poisson", seed=5).arrivals(7, 1)
    own = OwnSubmission(workloads, JOBS_BY_KIND, 7, 4, arrivals)
    write_plan(tmp_path / "plan.json", own, shares(4, 3), RunClock.tied())
    expected = [workloads.at(index).body(index) for index in range(7)]
    (tmp_path / "part").unlink()
    plan = read_plan(tmp_path / "plan.json")
    assert [list(plan.indices(number)) for number in range(3)] == [[0, 3, 6], [1, 4], [2, 5]]
    assert [plan.workloads.at(index).body(index) for index in range(7)] == expected
    assert [plan.due.due_s(index) for index in range(7)] == [arrivals.due_s(index) for index in range(7)]


def test_plan_with_a_credential_is_refused_and_not_written(tmp_path: Path) -> None:
    (tmp_path / "part").write_text(PART)
    patch = {"metadata": {"annotations": {"registry": "https://me:planted-word@registry.example.com"}}}

    def make(variant: Variant) -> Workloads:
        plan = WorkloadPlan(WITH_PART, "t", variant.namespace, 1, {"gpus": 1}, {}, patch, tmp_path)
        return Workloads(plan, SUBMISSION)

    own = OwnSubmission(
        AssortedWorkloads(Assortment([Tenant("a")]), 2, make), JOBS_BY_KIND, 2, 2, ArrivalSettings().arrivals(2, 1)
    )
    with pytest.raises(UsageError, match="store it in a Secret of the cluster"):
        write_plan(tmp_path / "plan.json", own, shares(2, 2), RunClock.tied())
    assert not (tmp_path / "plan.json").exists()


def test_connections_are_divided() -> None:
    assert (shares(8, 3), shares(4, 4), shares(9, 2)) == ([3, 3, 2], [1, 1, 1, 1], [5, 4])


def test_follower_reports_complete_lines_once(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    follower = Follower(path)
    assert follower.rows() == []
    path.write_text('{"a":1}\n{"a":')
    assert follower.rows() == [{"a": 1}]
    with path.open("a") as stream:
        stream.write("2}\n")
    assert follower.rows() == [{"a": 2}]
    assert follower.rows() == []
