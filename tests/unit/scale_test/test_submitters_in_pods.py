"""Submitters in pods: the mirrored folder, lost pods, clocks, and the objects of the pods."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError, PerfError, UsageError
from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.endpoint import ApiEndpoint
from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.lab import Lab
from ansible_collections.psap.perf.plugins.module_utils.scale_test.base.instants import RunClock
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.kinds import ResourceKind
from ansible_collections.psap.perf.plugins.module_utils.scale_test.session import requests
from ansible_collections.psap.perf.plugins.module_utils.scale_test.session.starters import submitter_starter
from ansible_collections.psap.perf.plugins.module_utils.scale_test.session.surroundings import Surroundings
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitters.clocks import ClockOffset
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitters.folder import Folder
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitters.frames import Frame, FrameReader
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitters.mirroring import MirroredSubmitter
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitters.plan import write_plan
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitters.pod_objects import PodObjects, PodSettings
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitting.submitting import OwnSubmission
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads.arrivals import arrivals_at

from tests.data.loads import load
from tests.schemas import schema_of

from .fake_api import FakeApi, fake_api
from .pods import FakePods
from .sessions import JOB, JOBS_BY_KIND, SUBMISSION, Scene, complete_all, eventually, job_workloads
from .submitters import is_alive, once_created, pids


@pytest.fixture(name="pods")
def _pods(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[FakePods]:
    """Let scenes start their submitters in pods."""
    made: list[FakePods] = []

    def starter(scene: Scene) -> FakePods:
        assert scene.api is not None
        made.append(FakePods(scene.api.server, tmp_path))
        return made[-1]

    monkeypatch.setattr(Scene, "starter", starter)
    return made


@pytest.mark.slow
@pytest.mark.usefixtures("pods")
def test_pods_submit_like_processes(tmp_path: Path) -> None:
    scene = Scene(tmp_path, count=9, connections=5, submitters=2)
    end = scene.play(complete_all)
    assert end.accounting.sentence() == "9 of 9 workloads submitted: 9 completed, 0 failed, 0 lost"
    assert (end.accounting.identity_holds, end.failure) == (True, None)
    rows = scene.rows("submissions")
    assert sorted((row["index"], row["submitter"]) for row in rows) == [(index, index % 2) for index in range(9)]
    assert min(row["sent_s"] for row in rows) >= scene.document("submitters/go")["at_s"]
    assert scene.document("submitters/01/done")["ended_by"] == "all sent"
    clock = scene.document("submitters/01/clock")
    jsonschema.validate(clock, schema_of("submitter-clock"))
    assert abs(clock["offset_s"]) <= clock["uncertainty_s"]


@pytest.mark.slow
def test_workloads_of_a_lost_pod_are_looked_up(tmp_path: Path, pods: list[FakePods]) -> None:
    scene = Scene(tmp_path, count=60, rate=40, submitters=2)

    async def lose(_api: FakeApi) -> None:
        pods[0].pods[1].lose("lost its pod b, which was deleted")

    scene.meanwhile = once_created(scene, 12, lose)
    end = scene.play()
    accounting = end.accounting
    assert 30 < accounting.submitted < 60
    assert (accounting.completed, accounting.lost, accounting.identity_holds) == (accounting.submitted, 0, True)
    by = Counter(row["submitter"] for row in scene.rows("submissions"))
    assert (by[0], by[1]) == (30, accounting.submitted - 30)
    with pytest.raises(PerfError, match="submitter 1 lost its pod b, which was deleted: of its 30 workloads "):
        requests.judge(end, max_failed=0, timeout_s=1.0)


@pytest.mark.slow
def test_broken_stream_is_continued_by_another(tmp_path: Path, pods: list[FakePods]) -> None:
    scene = Scene(tmp_path, count=60, rate=30, submitters=2)

    async def break_streams(_api: FakeApi) -> None:
        for pod in pods[0].pods:
            pod.break_stream()

    scene.meanwhile = once_created(scene, 12, break_streams)
    end = scene.play()
    assert [pod.streams for pod in pods[0].pods] == [2, 2]
    assert end.accounting.sentence() == "60 of 60 workloads submitted: 60 completed, 0 failed, 0 lost"
    assert (end.accounting.identity_holds, end.failure) == (True, None)
    for number, pod in enumerate(pods[0].pods):
        name = f"{number:02d}/submissions.jsonl"
        assert (tmp_path / "submitters" / name).read_bytes() == (pod.scratch / "submitter" / name).read_bytes()


async def end_one(tmp_path: Path, end: Callable[[MirroredSubmitter], Awaitable[None]]) -> tuple[str | None, int]:
    """Start a submitter in a pod, and return how it ended and the number of its workloads."""
    own = OwnSubmission(job_workloads(), JOBS_BY_KIND, 3, 2, arrivals_at(0.0))
    folder = Folder(tmp_path / "submitters")
    folder.path.mkdir()
    write_plan(folder.plan, own, [2], RunClock.tied())
    async with fake_api() as api:
        submitter = FakePods(api.server, tmp_path).start(folder, 0)
        await end(submitter)
        await asyncio.gather(submitter.task, return_exceptions=True)
        return submitter.fate(), api.posts


@pytest.mark.slow
def test_kill_by_the_coordinator_ends_the_submitter_in_the_pod(tmp_path: Path) -> None:
    async def kill(submitter: MirroredSubmitter) -> None:
        await eventually(lambda: len(pids(tmp_path)) == 1)
        submitter.kill()

    assert asyncio.run(end_one(tmp_path, kill)) == ("was killed", 0)
    asyncio.run(eventually(lambda: not is_alive(pids(tmp_path)[0])))


@pytest.mark.slow
def test_wrong_clock_of_a_pod_ends_its_submitter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ClockOffset, "least_s", property(lambda _self: 0.7))

    async def wait(submitter: MirroredSubmitter) -> None:
        await eventually(submitter.task.done)

    fate, posts = asyncio.run(end_one(tmp_path, wait))
    assert posts == 0
    assert fate is not None
    assert fate.startswith("failed: the clock of its node differs by ")


def test_offset_of_a_clock_is_at_most_uncertain_by_half_the_way() -> None:
    offset = ClockOffset.of(100.0, 102.5, 101.0)
    assert (offset.offset_s, offset.uncertainty_s, offset.least_s) == (2.0, 0.5, 1.5)
    assert ClockOffset.of(100.0, 100.9, 101.0).least_s == 0.0


def test_frames_are_read_in_any_pieces() -> None:
    frames = [Frame({"file": "log.txt"}, b"a\nb"), Frame({"ping": 1.5}), Frame({"file": "x"}, b"{}\n" * 5000)]
    data = b"".join(frame.encode() for frame in frames)
    for size in (1, 7, len(data)):
        reader = FrameReader()
        pieces = (data[start : start + size] for start in range(0, len(data), size))
        assert [frame for piece in pieces for frame in reader.feed(piece)] == frames


@pytest.mark.parametrize("output", [b"python3: not found\n", b'{"file": "a"}\n', b"[1]\n", b"x" * 5000])
def test_other_output_is_refused(output: bytes) -> None:
    with pytest.raises(PerfError, match="its output is not in the format of a submitter"):
        FrameReader().feed(output)


SETTINGS = PodSettings("image:1", {"zone": "a"}, [{"operator": "Exists"}], 1000, 60.0, 900.0)
GROUPS = ResourceKind("scheduling.k8s.io/v1alpha2", "PodGroup", "podgroups")


def test_account_has_rights_of_a_submitter_in_each_namespace() -> None:
    made = list(PodObjects(SUBMISSION, ["a", "b"], [JOB, GROUPS], SETTINGS).account())
    name = f"{SUBMISSION.identity}-submitter"
    assert [each.path.rpartition("/v1/")[2] for each in made] == [
        f"namespaces/a/serviceaccounts/{name}",
        f"namespaces/a/roles/{name}",
        f"namespaces/a/rolebindings/{name}",
        f"namespaces/b/roles/{name}",
        f"namespaces/b/rolebindings/{name}",
    ]
    assert made[3].body["rules"] == [
        {"apiGroups": ["batch"], "resources": ["jobs"], "verbs": ["create", "get"]},
        {"apiGroups": ["scheduling.k8s.io"], "resources": ["podgroups"], "verbs": ["create", "get"]},
    ]
    assert made[4].body["subjects"] == [{"kind": "ServiceAccount", "name": name, "namespace": "a"}]


def test_pods_are_no_workloads_and_end_by_themselves() -> None:
    pods = [each.body for each in PodObjects(SUBMISSION, ["a"], [JOB], SETTINGS).pods(2)]
    assert [pod["metadata"]["name"] for pod in pods] == [f"{SUBMISSION.identity}-submitter-0{n}" for n in range(2)]
    assert all(SUBMISSION.workload_in(pod["metadata"]["name"]) is None for pod in pods)
    assert "psap.perf/submission" not in pods[0]["metadata"]["labels"]
    spec: dict[str, Any] = pods[0]["spec"]
    assert spec["activeDeadlineSeconds"] == 901
    assert spec["securityContext"]["runAsUser"] == 1000
    assert "KUBECONFIG" not in str(spec)


@pytest.mark.parametrize(
    ("surroundings", "error", "message"),
    [
        (Surroundings(Lab("one", real=("kubelet",)), openshift=False), ClusterError, "perflab up --with worker"),
        (Surroundings(None, openshift=False), UsageError, "set submitters_image"),
    ],
)
def test_pods_that_cannot_run_are_refused(surroundings: Surroundings, error: type[PerfError], message: str) -> None:
    own = OwnSubmission(job_workloads(), JOBS_BY_KIND, 3, 2, arrivals_at(0.0))

    async def begin() -> None:
        endpoint = ApiEndpoint("http://127.0.0.1:1")
        async with submitter_starter(endpoint, own, load(submitters_as="pods"), surroundings, lambda: False):
            pass

    with pytest.raises(error, match=re.escape(message)):
        asyncio.run(begin())
