"""Faults of servers, clocks and disks: each ends with correct accounts, an exit code and a sentence."""

from __future__ import annotations

import asyncio
import collections
import itertools
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import PerfError
from ansible_collections.psap.perf.plugins.module_utils.scale_test.base import instants
from ansible_collections.psap.perf.plugins.module_utils.scale_test.base.refusals import refusal
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.api import Answer
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.retries import RetryPolicy
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.unsettled import UnsettledRights
from ansible_collections.psap.perf.plugins.module_utils.scale_test.session import requests
from ansible_collections.psap.perf.plugins.module_utils.scale_test.session.accounting import Accounting
from ansible_collections.psap.perf.plugins.module_utils.scale_test.session.progress import Progress
from ansible_collections.psap.perf.plugins.module_utils.scale_test.session.session import SessionEnd
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitting import pacing

from .fake_api import FakeApi
from .sessions import JOBS, PODS, SUBMISSION, Scene, complete_all, eventually

pytestmark = pytest.mark.slow

NAMES = [SUBMISSION.name(index) for index in range(10)]
SILENT_WEBHOOK = (
    'Internal error occurred: failed calling webhook "a.b": failed to call webhook: Post '
    '"https://127.0.0.1:1/validate?timeout=4s": context deadline exceeded'
)


class FastTime:
    """Time that advances when all outstanding requests are answered."""

    def __init__(self) -> None:
        self.now = 0.0

    async def sleep(self, seconds: float) -> None:
        """Sleep, together with the other tasks that sleep now."""
        until = self.now + seconds
        await asyncio.sleep(0.001)
        self.now = max(self.now, until)

    def policy(self) -> RetryPolicy:
        """Return the default policy with this time."""
        return RetryPolicy(monotonic=lambda: self.now, sleep=self.sleep)


def test_429_for_twenty_seconds_delays_and_loses_nothing(tmp_path: Path) -> None:
    fast = FastTime()
    scene = Scene(tmp_path, count=6, connections=1, policy=fast.policy())

    def prepare(api: FakeApi) -> None:
        api.complete_jobs, api.retry_after = True, "2"
        api.busy = lambda: fast.now < 20

    end = scene.play(prepare)
    assert end.accounting.sentence() == "6 of 6 workloads submitted: 6 completed, 0 failed, 0 lost"
    requests.judge(end, max_failed=0, timeout_s=1.0)
    # ten answers with a Retry-After of two seconds
    assert scene.document("recording")["client"]["requests"]["retries"] == {"429": 10}
    assert [row["attempts"] for row in scene.rows("submissions")] == [11, 1, 1, 1, 1, 1]
    assert fast.now == 20


def play_silent_webhook(scene: Scene, *later: str) -> Accounting:
    """Play a session in which a webhook never answers, so that each attempt gets a 500; then *later* faults."""

    def prepare(api: FakeApi) -> None:
        api.fault_message = SILENT_WEBHOOK
        api.post_faults.extend([500] * scene.count)
        api.post_faults.extend(later or [500] * 1000)

    end = scene.play(prepare)
    assert end.ended_by == "timeout"
    return end.accounting


def test_timeout_names_webhook_that_never_answers(tmp_path: Path) -> None:
    scene = Scene(tmp_path, count=2, timeout_s=0.3, policy=RetryPolicy(longest_delay_s=0.2))

    accounting = play_silent_webhook(scene)

    cause = "refused: 500 Internal Server Error, webhook a.b did not answer in time"
    assert accounting.failed_by_cause == {cause: 2}
    assert (accounting.lost, accounting.identity_holds) == (0, True)
    assert {(row["status"], row["error"]) for row in scene.rows("submissions")} == {(500, f"500 {SILENT_WEBHOOK}")}


def test_timeout_in_mid_try_keeps_the_answer_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pacing, "_LAST_ANSWERS_S", 0.2)
    scene = Scene(tmp_path, count=2, timeout_s=0.5, policy=RetryPolicy(longest_delay_s=0.2))

    accounting = play_silent_webhook(scene, "stall", "stall")

    assert accounting.failed_by_cause == {
        "refused: 500 Internal Server Error, webhook a.b did not answer in time": 2,
    }
    answers = {(row["status"], row["attempts"], row["error"]) for row in scene.rows("submissions")}
    assert answers == {(500, 2, f"stopped before another try; the last answer: 500 {SILENT_WEBHOOK}")}


def test_lasting_429_is_given_up_and_reported(tmp_path: Path) -> None:
    fast = FastTime()
    scene = Scene(tmp_path, count=2, policy=fast.policy())

    def prepare(api: FakeApi) -> None:
        api.retry_after = "30"
        api.busy = lambda: True

    end = scene.play(prepare)
    assert (end.accounting.failed, end.accounting.identity_holds) == (2, True)
    with pytest.raises(PerfError, match="2 failed \\(refused: 429 Too Many Requests: 2\\)") as raised:
        requests.judge(end, max_failed=0, timeout_s=1.0)
    assert raised.value.exit_code == 1
    assert {row["error"] for row in scene.rows("submissions")} == {"429 too many requests"}
    assert fast.now < RetryPolicy().give_up_after_s


def test_410_on_every_watch_polls_without_loss_or_duplicates(tmp_path: Path) -> None:
    async def meanwhile(api: FakeApi) -> None:
        await eventually(lambda: len(api.objects.get(JOBS, {})) == 6)
        for name in NAMES[:5]:
            await api.complete(JOBS, name)
        await eventually(lambda: NAMES[5] in (tmp_path / "transitions.jsonl").read_text())
        await api.delete(JOBS, NAMES[5])

    scene = Scene(tmp_path, count=6, meanwhile=meanwhile)

    def prepare(api: FakeApi) -> None:
        api.keeps_no_versions = True

    end = scene.play(prepare)
    assert (end.accounting.completed, end.accounting.lost, end.accounting.identity_holds) == (5, 1, True)
    rows = [row for row in scene.rows("transitions") if row["kind"] == "Job"]
    counts = collections.Counter((row["name"], row["transition"]) for row in rows)
    assert set(counts.values()) == {1}
    assert {name for name, word in counts if word == "completed"} == set(NAMES[:5])
    recording = scene.document("recording")
    assert recording["disturbances"]["version gone"] == recording["relists"] > 3
    with pytest.raises(PerfError, match="1 lost \\(deleted before its end: 1\\)") as raised:
        requests.judge(end, max_failed=0, timeout_s=1.0)
    assert raised.value.exit_code == 5


def test_server_without_versions_is_polled_with_backoff(tmp_path: Path) -> None:
    scene = Scene(tmp_path, count=2, timeout_s=3.0)

    def prepare(api: FakeApi) -> None:
        api.keeps_no_versions = True

    scene.play(prepare)
    assert scene.api is not None
    watches = len(scene.document("recording")["resources"])
    # 0.2 + 0.4 + 0.8 + 1.6 s: five tries of each watch in three seconds, with the first, and one may be in progress
    assert scene.document("recording")["relists"] <= 6 * watches


def test_repeatedly_lost_responses_create_one_workload_each(tmp_path: Path) -> None:
    scene = Scene(tmp_path, count=6, connections=1)

    def prepare(api: FakeApi) -> None:
        api.complete_jobs = True
        # the first one is created at the second attempt; its answers are lost up to the fifth
        api.post_faults.extend(["reset", "lost", "lost", 503, "lost"])

    end = scene.play(prepare)
    assert end.accounting.sentence() == "6 of 6 workloads submitted: 6 completed, 0 failed, 0 lost"
    assert end.accounting.identity_holds
    first, *others = scene.rows("submissions")
    assert (first["outcome"], first["status"], first["attempts"]) == ("existed", 409, 6)
    assert {row["outcome"] for row in others} == {"created"}
    requests.judge(end, max_failed=0, timeout_s=1.0)


@pytest.mark.parametrize("step_s", [5.0, -5.0])
def test_wall_clock_step_shifts_no_time(tmp_path: Path, step_s: float, monkeypatch: pytest.MonkeyPatch) -> None:
    readings = itertools.count()
    wall = time.time
    # The first reading sets the recording's clock; all later ones are from a clock that was stepped.
    stepped = SimpleNamespace(time=lambda: wall() + (step_s if next(readings) else 0.0), monotonic=time.monotonic)
    monkeypatch.setattr(instants, "time", stepped)
    scene = Scene(tmp_path, count=4)

    end = scene.play(complete_all)
    requests.judge(end, max_failed=0, timeout_s=1.0)
    recording = scene.document("recording")
    clock = recording["clock"]
    latest = clock["utc_s"] + time.monotonic() - clock["monotonic_s"]
    times = [row[name] for row in scene.rows("submissions") for name in ("sent_s", "answered_s")]
    times += [row["seen_s"] for row in scene.rows("transitions")]
    times += [recording[name] for name in ("started_s", "synced_s", "ended_s")]
    assert len(times) == 4 * 2 + 4 * 3 + 3
    assert clock["utc_s"] <= min(times) <= max(times) <= latest


LACKS_RIGHT = (
    b'{"message": "jobs.batch is forbidden: User \\"u\\" cannot create resource \\"jobs\\" in API group \\"batch\\""}'
)
OVER_QUOTA = b'{"message": "jobs.batch \\"j\\" is forbidden: exceeded quota: q, requested: count/jobs.batch=1"}'


def test_lost_right_is_believed_only_after_a_while() -> None:
    now = 100.0
    rights = UnsettledRights(lambda: now)
    refused = Answer(403, LACKS_RIGHT, 1)
    assert not rights.is_temporary(refused)
    assert not rights.is_temporary(Answer(201, b"{}", 1))
    assert rights.is_temporary(refused)
    assert rights.is_temporary(Answer(401, b"", 1))
    assert not rights.is_temporary(Answer(403, OVER_QUOTA, 1))
    assert not rights.is_temporary(Answer(409, b"", 1))
    now = 131.0
    assert not rights.is_temporary(refused)
    assert not rights.is_temporary(Answer(200, b"{}", 1))
    assert rights.is_temporary(refused)


def test_unknown_rights_after_a_restart_are_no_final_refusal(tmp_path: Path) -> None:
    scene = Scene(tmp_path, count=4, connections=1)

    def prepare(api: FakeApi) -> None:
        api.complete_jobs = True
        api.post_faults.extend(["made", "rights", "rights", 401])

    end = scene.play(prepare)
    assert end.accounting.completed == 4
    assert scene.document("recording")["client"]["requests"]["retries"] == {"401": 1, "403": 2}
    requests.judge(end, max_failed=0, timeout_s=1.0)


@pytest.mark.parametrize(
    ("status", "message", "cause"),
    [
        (403, 'jobs.batch "j" is forbidden: exceeded quota: half, requested: x', "403 Forbidden, quota half exceeded"),
        (403, 'admission webhook "a.b" denied the request: no', "403 Forbidden, webhook a.b denied it"),
        (400, 'admission webhook "a.b" denied the request: no', "400 Bad Request, webhook a.b denied it"),
        (500, SILENT_WEBHOOK, "500 Internal Server Error, webhook a.b did not answer in time"),
        (
            500,
            'failed calling webhook "a.b": failed to call webhook: Post "https://x": dial tcp: connection refused',
            "500 Internal Server Error, webhook a.b could not be called",
        ),
        (
            403,
            'jobs.batch "j" is forbidden: unable to create new content in namespace n because it is being terminated',
            "403 Forbidden, namespace n is being deleted",
        ),
        (
            422,
            "jobs.batch \"j\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no",
            "422 Unprocessable Entity, policy p denied it",
        ),
        (403, 'User "u" cannot create resource "jobs"', "403 Forbidden, user u may not create it"),
        (422, "spec.template: Required value", "422 Unprocessable Entity"),
        (599, None, "599"),
    ],
)
def test_refusal_is_counted_by_reason(status: int, message: str | None, cause: str) -> None:
    assert refusal(status, message) == f"refused: {cause}"


@pytest.mark.parametrize(("most", "allowed"), [(0, "none may"), (3, "at most 3 may")])
def test_verdict_counts_failed_and_tolerated_workloads(most: int, allowed: str) -> None:
    accounting = Accounting(500, 500, 450, 50, 0, 0, {"OOMKilled": 50}, {}, ())
    end = SessionEnd("condition", accounting, Progress("done", 500, 500, 0, 450, 50, 0, 0.0, 0.0, 1.0, 1.0))
    with pytest.raises(PerfError, match=f"^50 of 500 workloads failed, {allowed}: ") as raised:
        requests.judge(end, max_failed=most, timeout_s=1.0)
    assert raised.value.exit_code == 1


def test_failed_pod_without_a_reason_leaves_it_to_its_workload(tmp_path: Path) -> None:
    async def meanwhile(api: FakeApi) -> None:
        await eventually(lambda: len(api.objects.get(JOBS, {})) == 1)
        pod = {"metadata": {"name": f"{NAMES[0]}-x", "namespace": "test", "labels": {"psap.perf/workload": NAMES[0]}}}
        await api.create(PODS, {**pod, "status": {"phase": "Failed"}})
        await asyncio.sleep(0.1)
        await api.fail(JOBS, NAMES[0], "BackoffLimitExceeded")

    end = Scene(tmp_path, count=1, meanwhile=meanwhile).play()
    assert end.accounting.failed_by_cause == {"BackoffLimitExceeded": 1}


def test_first_refusal_is_quoted(tmp_path: Path) -> None:
    scene = Scene(tmp_path, count=3, connections=1)

    def prepare(api: FakeApi) -> None:
        api.complete_jobs = True
        api.post_faults.extend([400, 400])

    end = scene.play(prepare)
    assert (end.accounting.failed, end.accounting.refused, end.accounting.completed) == (2, 2, 1)
    message = scene.rows("submissions")[0]["error"]
    with pytest.raises(PerfError) as raised:
        requests.judge(end, max_failed=0, timeout_s=1.0)
    assert str(raised.value).endswith(f"; see submissions.jsonl for the refusals, the first: {message}")


def test_refused_and_failed_workloads_have_files() -> None:
    both = Accounting(4, 4, 1, 3, 0, 0, {}, {}, (), refused=2, first_refusal=f"400 strict\n decoding {'x' * 300}")
    assert both.advice() == (
        f"see submissions.jsonl for the refusals, the first: 400 strict decoding {'x' * 220}…; "
        "see events.jsonl and transitions.jsonl"
    )
    assert replace(both, refused=0, first_refusal=None).advice() == "see events.jsonl and transitions.jsonl"
