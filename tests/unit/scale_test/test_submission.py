"""Submitting in spite of all faults of an API server or a network: exactly N workloads exist at the end."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError
from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.endpoint import ApiEndpoint
from ansible_collections.psap.perf.plugins.module_utils.scale_test.base.instants import RunClock
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.api import ApiClient, UnansweredError
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.kinds import discover
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.retries import RetryPolicy
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitting.concurrency import FixedConcurrency
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitting.pacing import reached
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitting.submission import (
    SubmissionTools,
    Submitter,
)
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads.arrivals import arrivals_at

from .fake_api import FakeApi, fake_api
from .sessions import JOB, JOBS, JOBS_BY_KIND, QUICK, SUBMISSION, job_workloads


class Submitted:
    """One submission, with its rows, retries and objects."""

    def __init__(self, count: int, *faults: int | str, retry_after: str | None = None) -> None:
        self.rows: list[dict[str, Any]] = []
        self.retries: dict[str, int] = {}
        self.names: set[str] = set()
        self._count, self._faults, self._retry_after = count, faults, retry_after

    async def _run(self, api: FakeApi, taken: dict[str, Any] | None) -> None:
        api.post_faults.extend(self._faults)
        api.retry_after = self._retry_after
        if taken is not None:
            await api.create(JOBS, taken)
        async with ApiClient(ApiEndpoint(api.server), policy=QUICK, request_timeout_s=2.0) as client:
            tools = SubmissionTools(client, RunClock.tied(), self.rows.append)
            submitter = Submitter(tools, job_workloads(), JOBS_BY_KIND)
            await submitter.submit(range(self._count), concurrency=FixedConcurrency(2), arrivals=arrivals_at(0))
            self.retries = dict(client.counts.retries)
        self.names = set(api.objects.get(JOBS, {}))

    def run(self, taken: dict[str, Any] | None = None) -> Submitted:
        async def served() -> None:
            async with fake_api() as api:
                await self._run(api, taken)

        asyncio.run(served())
        return self

    def outcomes(self) -> list[str]:
        return sorted(row["outcome"] for row in self.rows)


def expected_names(count: int) -> set[str]:
    return {SUBMISSION.name(index) for index in range(count)}


def test_every_workload_is_created_and_has_a_row() -> None:
    done = Submitted(5).run()
    assert done.names == expected_names(5)
    assert sorted(row["index"] for row in done.rows) == [0, 1, 2, 3, 4]
    assert {(row["status"], row["gpus"], row["pods"], row["kind"]) for row in done.rows} == {(201, 1, 1, "Job")}
    assert all(row["uid"] and row["answered_s"] >= row["sent_s"] for row in done.rows)


@pytest.mark.parametrize(("fault", "cause"), [(429, "429"), (500, "500"), (503, "503"), ("reset", "connection lost")])
def test_refused_attempt_is_repeated_and_counted(fault: int | str, cause: str) -> None:
    done = Submitted(4, fault, fault).run()
    assert done.names == expected_names(4)
    assert done.outcomes() == ["created"] * 4
    assert done.retries == {cause: 2}
    assert max(row["attempts"] for row in done.rows) >= 2


def test_lost_response_creates_no_second_workload() -> None:
    done = Submitted(3, "lost").run()
    assert done.names == expected_names(3)
    assert done.outcomes() == ["created", "created", "existed"]
    existed = next(row for row in done.rows if row["outcome"] == "existed")
    assert (existed["status"], bool(existed["uid"])) == (409, True)


def test_name_taken_by_another_is_refused() -> None:
    taken = {"metadata": {"name": SUBMISSION.name(0), "labels": {"psap.perf/submission": "another"}}}
    done = Submitted(1).run(taken)
    assert done.outcomes() == ["failed"]
    assert "already exists" in done.rows[0]["error"]


def test_permanent_refusal_is_not_repeated() -> None:
    done = Submitted(2, 403).run()
    assert done.outcomes() == ["created", "failed"]
    assert done.retries == {}


def test_retry_after_is_respected_within_limits() -> None:
    policy = RetryPolicy()
    assert policy.delay_s(1, "7") == 7.0
    assert policy.delay_s(1, "86400") == policy.longest_retry_after_s
    assert policy.delay_s(1, "Wed, 21 Oct 2026 07:28:00 GMT") <= policy.first_delay_s
    assert policy.delay_s(50, None) <= policy.longest_delay_s


def test_missing_responses_end_within_the_limits() -> None:
    done = Submitted(1, *["reset"] * 200).run()
    assert (done.rows[0]["status"], done.rows[0]["outcome"]) == (None, "failed")
    assert "had no answer in" in done.rows[0]["error"]
    assert done.rows[0]["attempts"] > 1


def test_missing_server_is_a_cluster_error() -> None:
    async def ask() -> None:
        async with ApiClient(
            ApiEndpoint("http://127.0.0.1:9"), policy=RetryPolicy(attempts=2, first_delay_s=0.01)
        ) as client:
            with pytest.raises(UnansweredError, match="cannot connect") as raised:
                await client.request("GET", "/api")
            assert raised.value.exit_code == ClusterError.exit_code
            assert client.counts.retries == {"cannot connect": 1}

    asyncio.run(ask())


def test_kind_is_found_by_the_server_or_named_as_missing() -> None:
    async def ask() -> None:
        async with fake_api() as api, ApiClient(ApiEndpoint(api.server)) as client:
            assert (await discover(client, "batch/v1", "Job")) == JOB
            with pytest.raises(ClusterError, match=r"no kind JobSet of jobset.x-k8s.io/v1"):
                await discover(client, "jobset.x-k8s.io/v1", "JobSet")

    asyncio.run(ask())


def test_rate_spaces_the_workloads() -> None:
    even = arrivals_at(20.0)
    assert [even.due_s(position) for position in (0, 1, 20)] == [0.0, 0.05, 1.0]
    assert arrivals_at(0).due_s(1000) == 0.0


@pytest.mark.parametrize("ahead_s", [-1.0, 0.01])
def test_moment_is_reached_unless_stopped(ahead_s: float) -> None:
    async def asked(*, stopped: bool) -> bool:
        stopping, clock = asyncio.Event(), RunClock.tied()
        if stopped:
            stopping.set()
        return await reached(clock, clock.now() + ahead_s, stopping)

    assert asyncio.run(asked(stopped=False))
    assert not asyncio.run(asked(stopped=True))


def test_clock_ignores_wall_clock_steps() -> None:
    ticks = iter([100.0, 103.25])
    clock = RunClock(utc_s=5000.0, monotonic_s=99.0, monotonic=lambda: next(ticks))
    assert (clock.now(), clock.now()) == (5001.0, 5004.25)


def test_token_of_a_file_is_sent(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("renewed")

    async def ask() -> str:
        async with fake_api() as api:
            endpoint = ApiEndpoint(api.server, token_file=tmp_path / "token")
            async with ApiClient(endpoint) as client, client.stream("/api/v1/nodes", {}) as response:
                return str(response.request_info.headers["Authorization"])

    assert asyncio.run(ask()) == "Bearer renewed"
