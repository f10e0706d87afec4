"""Transitions are the changes of an object's state, each reported once, with the server's time."""

from __future__ import annotations

from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.clock import stamp
from ansible_collections.psap.perf.plugins.module_utils.scale_test.recording.events import EventLog
from ansible_collections.psap.perf.plugins.module_utils.scale_test.recording.ledger import Ledger
from ansible_collections.psap.perf.plugins.module_utils.scale_test.recording.lifecycles import lifecycle_of
from ansible_collections.psap.perf.plugins.module_utils.scale_test.recording.transitions import Tracker, Transition

SECOND = "2026-11-21T00:00:{:02d}Z"


def tracker(kind: str) -> Tracker:
    return Tracker(kind, lifecycle_of(kind))


def pod(status: dict[str, Any] | None = None, **spec: Any) -> dict[str, Any]:
    labels = {"psap.perf/workload": "w-00001"}
    metadata = {"name": "w-00001-x", "namespace": "test", "uid": "u1", "labels": labels}
    return {
        "metadata": {**metadata, "creationTimestamp": SECOND.format(0)},
        "spec": spec,
        "status": status or {},
    }


def conditions(**times: str) -> list[dict[str, str]]:
    return [{"type": key, "status": "True", "lastTransitionTime": time} for key, time in times.items()]


def words(transitions: list[Transition]) -> list[str]:
    return [transition.transition for transition in transitions]


def test_each_milestone_is_reported_once_in_order() -> None:
    pods = tracker("Pod")
    assert words(pods.observe(pod(), 1.0)) == ["created"]
    scheduled = pod({"conditions": conditions(PodScheduled=SECOND.format(1))}, nodeName="node-1")
    found = pods.observe(scheduled, 2.5)
    assert words(found) == ["scheduled"]
    assert (found[0].seen_s, found[0].node, found[0].workload) == (2.5, "node-1", "w-00001")
    assert pods.observe(scheduled, 3.0) == []


def test_missed_states_are_reported_with_server_times() -> None:
    ended = pod(
        {
            "phase": "Succeeded",
            "conditions": conditions(PodScheduled=SECOND.format(1), Initialized=SECOND.format(2)),
            "containerStatuses": [
                {
                    "state": {
                        "terminated": {
                            "startedAt": SECOND.format(3),
                            "finishedAt": SECOND.format(9),
                            "exitCode": 0,
                        }
                    }
                }
            ],
        }
    )
    found = tracker("Pod").observe(ended, 10.0)
    assert words(found) == ["created", "scheduled", "initialized", "running", "succeeded"]
    offsets = [round(item.stamp.server_s - found[0].stamp.server_s) for item in found if item.stamp and found[0].stamp]
    assert offsets == [0, 1, 2, 3, 9]
    assert {item.stamp.resolution_s for item in found if item.stamp} == {1.0}


def test_pod_may_be_unschedulable_before_it_is_scheduled() -> None:
    pods = tracker("Pod")
    waiting = {
        "type": "PodScheduled",
        "status": "False",
        "reason": "Unschedulable",
        "lastTransitionTime": SECOND.format(1),
    }
    assert words(pods.observe(pod({"conditions": [waiting]}), 1.0)) == ["created", "unschedulable"]
    assert words(pods.observe(pod({"conditions": conditions(PodScheduled=SECOND.format(5))}), 5.0)) == ["scheduled"]


def test_failed_pod_reports_why() -> None:
    killed = {"terminated": {"exitCode": 137, "reason": "OOMKilled", "finishedAt": SECOND.format(4)}}
    found = tracker("Pod").observe(pod({"phase": "Failed", "containerStatuses": [{"state": killed}]}), 5.0)
    assert (found[-1].transition, found[-1].reason) == ("failed", "OOMKilled (exit code 137)")
    evicted = tracker("Pod").observe(pod({"phase": "Failed", "reason": "Evicted"}), 5.0)
    assert words(evicted) == ["created", "evicted", "failed"]


def job(status: dict[str, Any] | None = None, uid: str = "j1") -> dict[str, Any]:
    metadata = {"name": "w-00001", "namespace": "test", "uid": uid, "creationTimestamp": SECOND.format(0)}
    return {"metadata": metadata, "status": status or {}}


def test_suspended_and_resumed_job_reports_every_change() -> None:
    jobs = tracker("Job")
    suspended = {"conditions": conditions(Suspended=SECOND.format(1))}
    started = {"startTime": SECOND.format(2)}
    reported = [words(jobs.observe(job(status), 1.0)) for status in (suspended, started, suspended, started)]
    assert reported == [["created", "suspended"], ["started"], ["suspended"], ["started"]]


def test_pytorchjob_and_unknown_kind_end_like_jobs() -> None:
    running = {"type": "Running", "status": "False"}
    succeeded = {
        "conditions": [running, *conditions(Succeeded=SECOND.format(7))],
        "completionTime": SECOND.format(6),
    }
    assert words(tracker("PyTorchJob").observe(job(succeeded), 8.0)) == ["created", "completed"]
    assert words(tracker("Experiment").observe(job({"phase": "Failed", "reason": "Quota"}), 8.0)) == [
        "created",
        "failed",
    ]


def test_deleted_object_reports_its_last_state_first() -> None:
    jobs = tracker("Job")
    jobs.observe(job(), 1.0)
    ended = job({"startTime": SECOND.format(1), "conditions": conditions(Complete=SECOND.format(3))})
    assert words(jobs.remove(ended, 4.0)) == ["started", "completed", "deleted"]
    assert len(jobs) == 0


def test_object_missing_from_a_new_list_was_deleted() -> None:
    jobs = tracker("Job")
    jobs.observe(job(uid="j1"), 1.0)
    jobs.observe(job(uid="j2"), 1.0)
    assert [(item.uid, item.transition) for item in jobs.missing(["j2"], 2.0)] == [("j1", "deleted")]
    assert jobs.missing(["j2"], 3.0) == []


def test_row_has_the_fields_of_the_contract() -> None:
    row = tracker("Pod").observe(pod(), 1.25)[0].row()
    created = stamp(SECOND.format(0))
    assert created is not None
    assert row == {
        "seen_s": 1.25,
        "kind": "Pod",
        "namespace": "test",
        "name": "w-00001-x",
        "uid": "u1",
        "workload": "w-00001",
        "transition": "created",
        "server_s": created.server_s,
        "resolution_s": 1.0,
        "node": None,
        "reason": None,
    }


def test_microseconds_are_distinguished_from_whole_seconds() -> None:
    fine = stamp("2026-11-21T00:00:01.250000Z")
    assert fine is not None
    assert fine.resolution_s == 0.000001
    assert round(fine.server_s % 1, 6) == 0.25
    assert stamp(None) is None


def event(uid: str = "e1", count: int | None = None, **fields: Any) -> dict[str, Any]:
    regarding = {"kind": "Pod", "name": "w-00001-x", "namespace": "test"}
    return {
        "metadata": {"uid": uid},
        "involvedObject": regarding,
        "reason": "Scheduled",
        "count": count,
        **fields,
    }


def test_event_is_reported_once_per_count() -> None:
    log = EventLog()
    first = log.observe(event(eventTime="2026-11-21T00:00:01.500000Z"), "w-00001", 2.0)
    assert first is not None
    assert (first["resolution_s"], first["count"], first["name"]) == (0.000001, 1, "w-00001-x")
    assert log.observe(event(), "w-00001", 3.0) is None
    again = log.observe(event(count=2, lastTimestamp=SECOND.format(9)), "w-00001", 9.5)
    assert again is not None
    assert again["resolution_s"] == 1.0


def test_older_event_is_reported_when_it_repeats() -> None:
    log = EventLog()
    log.ignore(event(count=3))
    assert log.observe(event(count=3), None, 1.0) is None
    assert log.observe(event(count=4), None, 2.0) is not None


def deployment(status: dict[str, Any] | None = None, replicas: int = 4) -> dict[str, Any]:
    metadata = {"name": "w-00001", "namespace": "test", "uid": "d1", "generation": 1}
    return {
        "metadata": {**metadata, "creationTimestamp": SECOND.format(0)},
        "spec": {"replicas": replicas},
        "status": status or {},
    }


def progressing(reason: str, status: str = "True", updated: int = 1) -> dict[str, str]:
    return {
        "type": "Progressing",
        "status": status,
        "reason": reason,
        "lastTransitionTime": SECOND.format(1),
        "lastUpdateTime": SECOND.format(updated),
    }


def test_deployment_is_complete_when_all_pods_are_available() -> None:
    deployments = tracker("Deployment")
    assert words(deployments.observe(deployment(), 1.0)) == ["created"]
    counts = {"observedGeneration": 1, "replicas": 4, "updatedReplicas": 4}
    # like the controller: Available is already True with three of four
    available = {"type": "Available", "status": "True", "lastTransitionTime": SECOND.format(2)}
    partly = {**counts, "availableReplicas": 3, "conditions": [progressing("ReplicaSetUpdated"), available]}
    assert words(deployments.observe(deployment(partly), 2.0)) == ["started"]
    done = {
        **counts,
        "availableReplicas": 4,
        "conditions": [progressing("NewReplicaSetAvailable", updated=5), available],
    }
    found = deployments.observe(deployment(done), 5.2)
    assert words(found) == ["completed"]
    assert found[0].stamp == stamp(SECOND.format(5))
    assert lifecycle_of("Deployment").ends["completed"] == "completed"


def test_deployment_with_an_outdated_status_is_not_complete() -> None:
    old = {"observedGeneration": 0, "updatedReplicas": 4, "availableReplicas": 4}
    found = tracker("Deployment").observe(deployment({**old, "conditions": [progressing("x")]}), 1.0)
    assert words(found) == ["created", "started"]


def test_late_deployment_has_failed() -> None:
    conditions = [progressing("ProgressDeadlineExceeded", status="False")]
    found = tracker("Deployment").observe(deployment({"observedGeneration": 1, "conditions": conditions}), 1.0)
    assert words(found) == ["created", "started", "failed"]
    assert found[-1].reason == "ProgressDeadlineExceeded"


def test_queued_job_is_suspended_until_it_starts() -> None:
    jobs = tracker("Job")
    metadata = {"name": "w-00001", "namespace": "test", "uid": "j1", "creationTimestamp": SECOND.format(0)}
    suspended = {
        "type": "Suspended",
        "status": "True",
        "reason": "JobSuspended",
        "lastTransitionTime": SECOND.format(0),
    }
    assert words(jobs.observe({"metadata": metadata, "status": {"conditions": [suspended]}}, 1.0)) == [
        "created",
        "suspended",
    ]
    resumed = {**suspended, "status": "False", "reason": "JobResumed"}
    status = {"conditions": [resumed], "startTime": SECOND.format(3)}
    assert words(jobs.observe({"metadata": metadata, "status": status}, 4.0)) == ["started"]


def test_preempted_pod_failed_by_preemption() -> None:
    disrupted = {"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}
    terminated = [{"state": {"terminated": {"exitCode": 137, "reason": "Error"}}}]
    found = tracker("Pod").observe(
        pod({"phase": "Failed", "conditions": [disrupted], "containerStatuses": terminated}), 1.0
    )
    reasons = {transition.transition: transition.reason for transition in found}
    assert (reasons["evicted"], reasons["failed"]) == ("PreemptionByScheduler", "PreemptionByScheduler")


def test_workload_failure_is_that_of_the_faulty_pod() -> None:
    def failed(name: str, uid: str, reason: str) -> Transition:
        return Transition(1.0, "Pod", "test", name, uid, "w", "failed", None, None, reason)

    ledger = Ledger({"failed": "failed"})
    ledger.workload_reached(Transition(0.5, "Job", "test", "w", "w1", "w", "created", None, None, None))
    for number, reason in enumerate(("PreemptionByScheduler", "OOMKilled (exit code 137)", "Error (exit code 1)")):
        ledger.pod_reached(failed(f"w-{number}", str(number), reason))
    assert ledger.workloads["w"].pod_failure == "OOMKilled (exit code 137)"


def job_set(*, suspended: bool = False, **status: Any) -> dict[str, Any]:
    metadata = {"name": "w-00001", "namespace": "test", "uid": "u2", "creationTimestamp": SECOND.format(0)}
    return {"metadata": metadata, "spec": {"suspend": suspended}, "status": status}


def of_job(**counts: int) -> list[dict[str, Any]]:
    return [{"name": "workers", **{"active": 0, "ready": 0, "succeeded": 0, "failed": 0, "suspended": 0, **counts}}]


def test_job_set_starts_once_and_ends_by_a_condition() -> None:
    sets = tracker("JobSet")
    assert words(sets.observe(job_set(), 1.0)) == ["created"]
    # the pods of its Job have ended, and the Job has not
    for counts, expected in ({"active": 1}, [("started", None)]), ({}, []):
        found = sets.observe(job_set(replicatedJobsStatus=of_job(**counts)), 2.0)
        assert [(each.transition, each.stamp) for each in found] == expected
    ended = job_set(replicatedJobsStatus=of_job(succeeded=1), conditions=conditions(Completed=SECOND.format(9)))
    (found_end,) = sets.observe(ended, 9.1)
    assert (found_end.transition, found_end.stamp) == ("completed", stamp(SECOND.format(9)))


def test_job_set_that_kueue_suspends_again_starts_twice() -> None:
    sets = tracker("JobSet")
    waits = conditions(Suspended=SECOND.format(1))
    suspended = job_set(suspended=True, conditions=waits, replicatedJobsStatus=of_job(suspended=1))
    running = job_set(conditions=[{**waits[0], "status": "False"}], replicatedJobsStatus=of_job(active=1))
    found = [words(sets.observe(state, 1.0)) for state in (suspended, running, suspended, running)]
    assert found == [["created", "suspended"], ["started"], ["suspended"], ["started"]]


def test_failed_job_set_has_the_reason_of_its_condition() -> None:
    failed = {**conditions(Failed=SECOND.format(3))[0], "reason": "FailedJobs"}
    found = tracker("JobSet").observe(job_set(conditions=[failed], replicatedJobsStatus=of_job(failed=1)), 4.0)
    assert [(each.transition, each.reason) for each in found][-1] == ("failed", "FailedJobs")


def test_leader_worker_set_is_complete_when_its_groups_are_ready() -> None:
    sets = tracker("LeaderWorkerSet")
    assert words(sets.observe(job_set(conditions=conditions(Progressing=SECOND.format(1))), 1.0)) == [
        "created",
        "started",
    ]
    (found,) = sets.observe(job_set(conditions=conditions(Available=SECOND.format(5))), 5.1)
    assert (found.transition, found.stamp) == ("completed", stamp(SECOND.format(5)))


def test_ray_job_has_the_times_and_the_reason_of_its_status() -> None:
    jobs = tracker("RayJob")
    begun: dict[str, Any] = {"jobDeploymentStatus": "Running", "startTime": SECOND.format(2)}
    assert words(jobs.observe(job_set(**begun), 2.1)) == ["created", "started"]
    ended: dict[str, Any] = {
        **begun,
        "endTime": SECOND.format(7),
        "jobStatus": "FAILED",
        "jobDeploymentStatus": "Failed",
    }
    (found,) = jobs.observe(job_set(**ended, reason="AppFailed"), 7.3)
    assert (found.transition, found.stamp, found.reason) == ("failed", stamp(SECOND.format(7)), "AppFailed")
    succeeded = {**ended, "jobStatus": "SUCCEEDED", "jobDeploymentStatus": "Complete"}
    assert words(tracker("RayJob").observe(job_set(**succeeded), 8.0)) == ["created", "started", "completed"]


def test_ray_cluster_is_complete_when_its_pods_were_ready() -> None:
    clusters = tracker("RayCluster")
    assert words(clusters.observe(job_set(suspended=True, observedGeneration=1), 1.0)) == ["created"]
    assert words(clusters.observe(job_set(observedGeneration=2), 2.0)) == ["started"]
    ready = conditions(HeadPodReady=SECOND.format(3), RayClusterProvisioned=SECOND.format(5))
    (found,) = clusters.observe(job_set(observedGeneration=2, conditions=ready), 5.1)
    assert (found.transition, found.stamp) == ("completed", stamp(SECOND.format(5)))


def test_train_job_starts_when_it_is_resumed_and_ends_by_a_condition() -> None:
    jobs = tracker("TrainJob")
    waits = conditions(Suspended=SECOND.format(1))
    assert words(jobs.observe(job_set(suspended=True, conditions=waits), 1.0)) == ["created", "suspended"]
    resumed = [{**waits[0], "status": "False", "lastTransitionTime": SECOND.format(4)}]
    (started,) = jobs.observe(job_set(conditions=resumed), 4.2)
    assert (started.transition, started.stamp) == ("started", stamp(SECOND.format(4)))
    ended = [*resumed, *conditions(Complete=SECOND.format(8))]
    assert words(jobs.observe(job_set(conditions=ended), 8.0)) == ["completed"]
