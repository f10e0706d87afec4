"""Lists of Kubernetes objects: reading them, and the KPIs of the kind kubernetes_objects, computed by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from perfanalysis.files.findings import Finding
from perfanalysis.workloads.kubernetes_objects.model import read_list
from perfanalysis.workloads.kubernetes_objects.pods import quantity
from perfanalysis.workloads.run_analysis import RunAnalysis, analyse_run

from tests.data.kubernetes_lists import BEGIN, condition, job, pod, stamp, write_list
from tests.schemas import check

RECORDING = "000__load/artifacts"
POD = pod("a-worker-0", 0, 2, 3, 13)


def record_lists(folder: Path, **lists: list[Any]) -> Path:
    """Return a run with one recording of such lists."""
    artifacts = folder / RECORDING
    for name, items in lists.items():
        write_list(artifacts / f"{name}.json", items)
    artifacts.mkdir(parents=True, exist_ok=True)
    document = {
        "schema": "psap.perf/kubernetes-objects/1",
        "test": "load",
        "uuid": None,
        "started": "2026-03-02T08:59:50.000Z",
        "ended": "2026-03-02T09:01:00.000Z",
    }
    check(document)
    (artifacts / "kubernetes_objects.json").write_text(json.dumps(document))
    return folder


def kpis(result: RunAnalysis) -> dict[str, float | None]:
    return {value.name: value.number for value in result.analyses[0].kpis}


def of_lists(findings: tuple[Finding, ...]) -> list[tuple[str, str]]:
    return [(finding.severity, finding.text) for finding in findings if RECORDING in finding.where]


def test_kpis_of_jobs_and_pods_match_hand_computation(tmp_path: Path) -> None:
    run = record_lists(
        tmp_path,
        jobs=[job("a", 0, 2, 13), job("b", 1, 4, 21), job("c", 5, None, None)],
        pods=[
            POD,
            pod("b-worker-0", 1, 4, 6, 20),
            pod("b-worker-1", 1, 5, 6, 21, exit_code=1),
            pod("c-worker-0", 5, 9, 11, None),
        ],
    )
    found = kpis(analyse_run(run, tmp_path / "out"))
    assert found["jobs"] == 3
    assert found["jobs_not_ended"] == 1
    assert (found["pods"], found["pods_failed"], found["pods_not_ended"]) == (4, 1, 1)
    assert found["container_restarts"] == 4
    assert found["pod_scheduled_p50"] == 3.5  # 2, 3, 4 and 4 seconds
    assert found["pod_scheduled_max"] == 4
    assert found["pod_running_max"] == 6
    assert found["pod_ready_max"] == 6  # Only the running one is known to have been ready.
    assert found["pod_finished_p50"] == 19  # 13, 19 and 20
    assert found["job_started_max"] == 3
    assert found["job_ran_max"] == 17
    assert found["jobs_finished_per_s"] == pytest.approx(2 / 21)
    assert found["most_jobs_at_once"] == 2
    assert found["most_pods_at_once"] == 4
    assert found["creation_span"] == 5
    assert found["scheduling_span"] == 9
    assert found["test_length"] == 70
    assert found["makespan"] is None
    assert found["pod_scheduled_p99"] is None  # Of four


def test_queue_jobs_and_job_parts_are_not_jobs(tmp_path: Path) -> None:
    wrapper = {
        "kind": "AppWrapper",
        "metadata": {"name": "wrap", "namespace": "load", "creationTimestamp": stamp(0)},
        "status": {"phase": "Succeeded", "conditions": [{**condition("Finished", 30), "lastTransitionTime": None}]},
    }
    inner = job("inner", 1, 3, 29, ownerReferences=[{"kind": "AppWrapper", "name": "wrap"}])
    queued = {
        "kind": "Workload",
        "metadata": {
            "name": "pytorchjob-inner-1",
            "namespace": "load",
            "creationTimestamp": stamp(1),
            "ownerReferences": [{"kind": "PyTorchJob", "name": "inner"}],
        },
        "status": {"conditions": [condition("QuotaReserved", 2), condition("Admitted", 2)]},
    }
    result = analyse_run(record_lists(tmp_path, jobs=[wrapper, inner], workloads=[queued]), tmp_path / "out")
    frame = result.analyses[0].frames["kubernetes_objects_jobs"]
    assert list(frame["name"]) == ["wrap", "inner"]
    assert list(frame["whole"]) == [True, False]
    assert frame["admitted_s"].to_list()[1] == BEGIN.timestamp() + 2
    assert kpis(result)["jobs"] == 1


def test_microseconds_zones_and_legacy_terms_are_read(tmp_path: Path) -> None:
    given = {
        "kind": "PyTorchJob",
        "metadata": {"name": "a", "namespace": "load", "creationTimestamp": "2026-03-02T11:00:00+02:00"},
        "status": {
            "conditions": [
                {"type": "PyTorchJobRunning", "status": "True", "lastTransitionTime": stamp(3)},
                {"type": "PyTorchJobFailed", "lastTransitionMicroTime": "2026-03-02T09:00:07.250000Z"},
            ]
        },
    }
    found = kpis(analyse_run(record_lists(tmp_path, jobs=[given]), tmp_path / "out"))
    assert (found["job_started_max"], found["job_finished_max"], found["jobs_failed"]) == (3, 7.25, 1)


def test_node_capacity_is_reported(tmp_path: Path) -> None:
    offered = {"cpu": "7500m", "memory": "16Gi", "nvidia.com/gpu": "8"}
    labels = {"node.kubernetes.io/instance-type": "big", "nvidia.com/gpu.product": "H100"}
    nodes = [
        {"kind": "Node", "metadata": {"name": f"n{n}", "labels": labels}, "status": {"allocatable": offered}}
        for n in range(3)
    ]
    result = analyse_run(record_lists(tmp_path, pods=[POD], nodes=nodes), tmp_path / "out")
    row = result.analyses[0].frames["kubernetes_objects_tests"].iloc[0]
    assert (row["nodes"], row["gpus"], row["cpus"], row["memory_bytes"]) == (3, 24, 22.5, 3 * 2**34)
    assert (row["instance_types"], row["gpu_products"]) == ("big", "H100")


def test_devices_of_slices_count_as_gpus_of_their_nodes(tmp_path: Path) -> None:
    node: dict[str, Any] = {"kind": "Node", "status": {"allocatable": {"cpu": "8"}}}
    nodes = [{**node, "metadata": {"name": name}} for name in ("a", "b")]
    kinds = [{"attributes": {"type": {"string": kind}}} for kind in ("gpu", "gpu", "mig")]

    def published(node_name: str | None, generation: int, driver: str = "gpu.nvidia.com") -> dict[str, Any]:
        spec = {"driver": driver, "pool": {"name": "a", "generation": generation}, "devices": kinds}
        return {"kind": "ResourceSlice", "metadata": {"name": "s"}, "spec": {**spec, "nodeName": node_name}}

    slices = [published("a", 1), published("a", 2), published(None, 2), published("b", 2, "net.example.com")]
    invalid = {"kind": "ResourceSlice", "metadata": {"name": "s"}, "spec": {"pool": "a", "devices": {}}}
    folder = record_lists(tmp_path, pods=[POD], nodes=nodes, slices=[*slices, invalid])
    row = analyse_run(folder, tmp_path / "out").analyses[0].frames["kubernetes_objects_tests"].iloc[0]
    assert (row["nodes"], row["gpus"]) == (2, 2)


def test_invalid_entries_are_counted_and_the_others_used() -> None:
    wrong = [{"kind": "Pod"}, {**POD, "metadata": {"name": 7}}, "pod", None]
    found = read_list(json.dumps({"items": [POD, *wrong, POD]}).encode())
    assert (len(found.items), found.left_out, found.problem) == (2, 4, None)


@pytest.mark.parametrize("content", ["[{}]", "{}", "7", "null", '{"items": {"a": 1}}'])
def test_document_that_is_no_list_is_reported(content: str) -> None:
    found = read_list(content.encode())
    assert found.items == ()
    assert found.left_out or found.problem


def test_single_object_and_bare_list_are_read() -> None:
    assert len(read_list(json.dumps(POD).encode()).items) == 1
    assert len(read_list(json.dumps([POD, POD]).encode()).items) == 2


def test_complete_objects_of_a_truncated_list_are_used(tmp_path: Path) -> None:
    run = record_lists(tmp_path, pods=[POD, POD, POD])
    path = run / RECORDING / "pods.json"
    path.write_bytes(path.read_bytes()[:-400])
    result = analyse_run(run, tmp_path / "out")
    assert kpis(result)["pods"] == 2
    (severity, text), *_ = of_lists(result.findings)
    assert severity == "error"
    assert "the 2 objects before the damage are used" in text


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"[" * 200_000, b'{"items": ' * 50_000, b"{" + b'"a":{' * 9999])
def test_invalid_json_is_reported(tmp_path: Path, content: bytes) -> None:
    run = record_lists(tmp_path, jobs=[job("a", 0, 1, 2)])
    (run / RECORDING / "pods.json").write_bytes(content)
    result = analyse_run(run, tmp_path / "out")
    assert [severity for severity, _ in of_lists(result.findings)] == ["error"]
    assert kpis(result)["jobs"] == 1


def test_implausible_timestamps_are_missing_and_counted(tmp_path: Path) -> None:
    early = pod("a-worker-0", 5, 2, 6, 9)
    late = pod("b-worker-0", 5, 7, 8, 9)
    late["metadata"]["creationTimestamp"] = "yesterday"
    result = analyse_run(record_lists(tmp_path, pods=[early, late]), tmp_path / "out")
    assert kpis(result)["pod_scheduled_max"] is None
    texts = " ".join(text for _, text in of_lists(result.findings))
    assert "1 timestamps are not times" in texts
    assert "1 with scheduled_s before created_s" in texts


def test_ignored_kinds_are_listed(tmp_path: Path) -> None:
    event = {"kind": "Event", "metadata": {"name": "e"}}
    result = analyse_run(record_lists(tmp_path, pods=[POD], events=[event, event]), tmp_path / "out")
    assert ("note", "objects of kinds that are not analysed: 2 Event") in of_lists(result.findings)


def test_json_is_not_read_by_a_yaml_loader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded = yaml.load

    def refuse(stream: Any, Loader: Any) -> Any:  # noqa: N803 - as yaml names it
        text = stream if isinstance(stream, str) else stream.decode() if isinstance(stream, bytes) else stream.read()
        assert not str(text).lstrip().startswith(("{", "[")), "JSON went through a YAML loader"
        return loaded(text, Loader)

    monkeypatch.setattr(yaml, "load", refuse)
    result = analyse_run(record_lists(tmp_path, pods=[POD], jobs=[job("a", 0, 1, 2)]), tmp_path / "out")
    assert kpis(result)["pods"] == 1


@pytest.mark.parametrize(
    ("text", "number"),
    [("500m", 0.5), ("16Gi", 2.0**34), (8, 8.0), ("2M", 2e6), ("", None), ("x", None), (None, None), ("1.2.3", None)],
)
def test_quantity_is_converted_to_a_number(text: object, number: float | None) -> None:
    assert quantity(text) == number
