"""A submission for a bench: small Jobs of the shipped template, with their files in a dedicated folder."""

from __future__ import annotations

import asyncio
import json
import time
from pathlib import Path

from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.endpoint import ApiEndpoint
from ansible_collections.psap.perf.plugins.module_utils.scale_test.base.instants import RunClock
from ansible_collections.psap.perf.plugins.module_utils.scale_test.base.labels import MANAGED_BY
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.api import ApiClient
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.kinds import discover
from ansible_collections.psap.perf.plugins.module_utils.scale_test.session.requests import Place, SubmitRequest
from ansible_collections.psap.perf.plugins.module_utils.scale_test.session.surroundings import make_namespace
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitting.submission import SubmissionTools
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitting.submitting import OwnSubmission

from tests.data.loads import ROLE, load

JOBS = "/apis/batch/v1/namespaces/{}/jobs"


def bench_request(
    folder: Path,
    count: int,
    *,
    connections: int,
    rate: float = 0.0,
    metrics_s: float = 0.0,
    submitters: int = 1,
    submitters_as: str = "processes",
    submitters_image: str = "",
    duration_s: float = 1.0,
    timeout_s: float = 3600.0,
) -> SubmitRequest:
    """Return a request for *count* one-GPU Jobs in the namespace ``bench``; durations in seconds."""
    for name in ("src", "artifacts"):
        (folder / name).mkdir()
    return SubmitRequest(
        place=Place(f"bench-{time.time_ns()}", "own", folder / "src", folder / "artifacts"),
        template=ROLE / "templates/job.yml.j2",
        load=load(
            count=count,
            namespace="bench",
            duration=duration_s,
            connections=connections,
            submitters=submitters,
            submitters_as=submitters_as,
            submitters_image=submitters_image,
            submitters_ready_timeout=300.0,
            rate=rate,
            timeout=timeout_s,
            metrics_interval=metrics_s,
        ),
    )


async def submit_alone(endpoint: ApiEndpoint, request: SubmitRequest) -> None:
    """Submit all of *request* as the command does, without a recording."""
    async with ApiClient(endpoint) as client:
        workloads = request.workloads(lab=True, openshift=False)
        resources = {kind: await discover(client, *kind) for kind in workloads.kinds}
        for namespace in request.assortment.namespaces:
            await make_namespace(client, namespace)
        count, connections = request.load.count, request.load.connections
        arrivals = request.arrivals.arrivals(count, connections)
        own = OwnSubmission(workloads, resources, count, connections, arrivals)
        tools = SubmissionTools(client, RunClock.tied(), lambda _row: None)
        await own.begin(tools).run()
        if tools.counts.refused:
            raise SystemExit(f"{tools.counts.refused} workloads were refused")


async def empty_namespace(endpoint: ApiEndpoint, namespace: str) -> None:
    """Delete the Jobs, and wait until they and their pods are gone."""
    async with ApiClient(endpoint) as client:
        selector = {"labelSelector": f"{MANAGED_BY}=psap.perf"}
        path = JOBS.format(namespace)
        await client.request("DELETE", path, params={**selector, "propagationPolicy": "Background"})
        for left in (path, f"/api/v1/namespaces/{namespace}/pods"):
            while json.loads((await client.request("GET", left, params={**selector, "limit": "1"})).body)["items"]:
                await asyncio.sleep(0.2)
