"""Workloads from shipped templates and from a user's."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.base.naming import label_value
from ansible_collections.psap.perf.plugins.module_utils.kube_api.patching import patched
from ansible_collections.psap.perf.plugins.module_utils.scale_test.base.labels import (
    Submission,
    workload_of,
)
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads import manifests
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads.manifests import Size
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads.templates import WorkloadPlan, Workloads

from tests.data.loads import load

TEMPLATES = Path("collections/ansible_collections/psap/perf/roles/scale_test_submit/templates")
VARIABLES: dict[str, Any] = {
    **load().variables,
    "gpus": 2,
    "pods": 4,
    "duration_s": "30",
    "priority_class": "",
    "node_selector": {"type": "kwok"},
    "tolerations": [{"operator": "Exists"}],
    "openshift": False,
}
OWN = """
apiVersion: v1
kind: ConfigMap
metadata: {name: ignored, labels: {kept: "yes", psap.perf/run: mine}}
data: {text: "INSERT"}
"""


def workloads(source: str, patch: dict[str, Any] | None = None, plan_pods: int = 1, **changes: Any) -> Workloads:
    plan = WorkloadPlan(
        source=source,
        origin="own.yml.j2",
        namespace="test",
        pods=plan_pods,
        patch=patch or {},
        variables={**VARIABLES, **changes},
        pod_annotations={"lab.psap.perf/duration": "30s"},
        folder=TEMPLATES,
    )
    return Workloads(plan, Submission.of("scale_test-20261121T000000Z-abcdef", "001__scale_test__submit"))


def shipped_workloads(name: str, patch: dict[str, Any] | None = None, **changes: Any) -> Workloads:
    return workloads((TEMPLATES / f"{name}.yml.j2").read_text(), patch, **changes)


@pytest.mark.parametrize(
    "name", ["job", "indexedjob", "deployment", "pytorchjob", "jobset", "leaderworkerset", "raycluster", "rayjob"]
)
def test_shipped_template_uses_every_option(name: str) -> None:
    made = shipped_workloads(name)
    # a RayJob has a pod that submits it
    assert made.size == Size(pods=5 if name == "rayjob" else 4, gpus=8)
    manifest = made.manifest(12)
    text = json.dumps(manifest)
    assert manifest["metadata"]["name"] == made.name(12)
    assert manifest["metadata"]["namespace"] == "test"
    for expected in (
        '"nvidia.com/gpu": 2',
        '"type": "kwok"',
        '"operator": "Exists"',
        "registry.example/sleeper:1",
    ):
        assert expected in text
    lasts = name in ("deployment", "leaderworkerset", "raycluster", "rayjob")
    assert f'"sleep", "{"infinity" if lasts else "30"}"' in text
    assert '"allowPrivilegeEscalation": false' in text
    ended_templates = {"pytorchjob": 2, "rayjob": 1}.get(name, 0 if lasts else 1)
    assert text.count('"lab.psap.perf/duration": "30s"') == ended_templates


@pytest.mark.parametrize(
    "name", ["job", "indexedjob", "deployment", "pytorchjob", "jobset", "leaderworkerset", "raycluster", "rayjob"]
)
def test_omitted_options_are_left_out(name: str) -> None:
    text = shipped_workloads(name, node_selector={}, tolerations=[], run_as_user=None, gpus=0).body(0).decode()
    for absent in ("nodeSelector", "tolerations", "runAsUser", "nvidia.com/gpu"):
        assert absent not in text


def test_single_pod_needs_no_workers_and_no_index() -> None:
    assert "Indexed" not in shipped_workloads("job", pods=1).body(0).decode()
    assert list(shipped_workloads("pytorchjob", pods=1).manifest(0)["spec"]["pytorchReplicaSpecs"]) == ["Master"]


@pytest.mark.parametrize(
    "name",
    ["job", "indexedjob", "pod", "deployment", "pytorchjob", "jobset", "leaderworkerset", "raycluster", "rayjob"],
)
def test_priority_applies_to_every_pod(name: str) -> None:
    assert "priorityClassName" not in shipped_workloads(name).body(0).decode()
    made = shipped_workloads(name, priority_class="p123-high").manifest(0)
    templates = manifests.pod_templates(made)
    assert templates
    assert {template["spec"]["priorityClassName"] for template in templates} == {"p123-high"}


@pytest.mark.parametrize(
    "name", ["job", "indexedjob", "pod", "deployment", "pytorchjob", "jobset", "leaderworkerset", "raycluster"]
)
def test_claim_is_mounted_in_every_pod(name: str) -> None:
    assert "volume" not in shipped_workloads(name).body(0).decode()
    made = shipped_workloads(name, pvc_size="5Gi", pvc_storage_class="fast", pvc_access_mode="ReadWriteMany")
    for template in manifests.pod_templates(made.manifest(3)):
        (volume,) = template["spec"]["volumes"]
        claim = volume["ephemeral"]["volumeClaimTemplate"]
        assert claim["metadata"]["labels"] == {"psap.perf/workload": made.name(3)}
        assert claim["spec"] == {
            "accessModes": ["ReadWriteMany"],
            "storageClassName": "fast",
            "resources": {"requests": {"storage": "5Gi"}},
        }
        (mount,) = template["spec"]["containers"][0]["volumeMounts"]
        assert mount == {"name": volume["name"], "mountPath": "/data"}
    assert "storageClassName" not in shipped_workloads(name, pvc_size="5Gi").body(0).decode()


def test_pod_that_submits_a_ray_job_has_its_duration_and_kuberays_command() -> None:
    spec = shipped_workloads("rayjob", pvc_size="5Gi").manifest(0)["spec"]
    submitter, head = spec["submitterPodTemplate"], spec["rayClusterSpec"]["headGroupSpec"]["template"]
    assert submitter["metadata"]["annotations"] == {"lab.psap.perf/duration": "30s"}
    assert "annotations" not in head["metadata"]
    assert "command" not in submitter["spec"]["containers"][0]
    assert "volumes" not in submitter["spec"]
    assert (spec["entrypoint"], head["spec"]["containers"][0]["command"]) == ("sleep 30", ["sleep", "infinity"])
    assert "workerGroupSpecs" not in shipped_workloads("raycluster", pods=1).manifest(0)["spec"]


def test_train_jobs_share_a_runtime_with_their_pod_template() -> None:
    made = shipped_workloads("trainjob", pvc_size="5Gi", priority_class="p123-high")
    assert made.size == Size(pods=4, gpus=8)
    jobs, runtime = [made.manifest(index) for index in (0, 7)], made.runtime
    assert runtime is not None
    for job in jobs:
        assert "runtime" not in job
        assert job["spec"]["runtimeRef"] == {
            "apiGroup": "trainer.kubeflow.org",
            "kind": "TrainingRuntime",
            "name": runtime["metadata"]["name"],
        }
    assert [job["metadata"]["labels"]["psap.perf/index"] for job in jobs] == ["0", "7"]
    (template,) = manifests.pod_templates(runtime)
    # the pods of all of them
    assert template["metadata"]["labels"] == runtime["metadata"]["labels"] == made.submission.common_labels
    assert template["metadata"]["annotations"] == {"lab.psap.perf/duration": "30s"}
    assert template["spec"]["priorityClassName"] == "p123-high"
    assert template["spec"]["containers"][0]["name"] == "node"
    assert made.name(0) not in json.dumps(runtime)
    longer, same = shipped_workloads("trainjob", duration_s="31").runtime, shipped_workloads("trainjob").runtime
    assert longer is not None
    assert same is not None
    assert longer["metadata"]["name"] != same["metadata"]["name"] != runtime["metadata"]["name"]
    assert shipped_workloads("trainjob").runtime == same
    assert shipped_workloads("job").runtime is None


@pytest.mark.parametrize("variable", ["name", "index"])
def test_pod_template_of_one_train_job_is_refused(variable: str) -> None:
    source = (TEMPLATES / "trainjob.yml.j2").read_text()
    with pytest.raises(UsageError, match="TrainJobs share their pod template"):
        workloads(source.replace("mlPolicy:", f"note: {{{{ {variable} }}}}\n  mlPolicy:"))


def test_indexed_job_is_indexed_with_one_pod() -> None:
    spec = shipped_workloads("indexedjob", pods=1).manifest(0)["spec"]
    assert (spec["completionMode"], spec["completions"], spec["backoffLimit"]) == ("Indexed", 1, 0)


@pytest.mark.parametrize("name", ["job", "indexedjob", "jobset"])
def test_disruption_is_no_failure_of_a_job(name: str) -> None:
    spec = shipped_workloads(name).manifest(0)["spec"]
    if name == "jobset":
        spec = spec["replicatedJobs"][0]["template"]["spec"]
    (rule,) = spec["podFailurePolicy"]["rules"]
    assert rule == {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}
    # Kubernetes' requirements for a Job with such a policy
    assert spec["template"]["spec"]["restartPolicy"] == "Never"


def test_pod_workload_is_one_pod_with_the_labs_duration() -> None:
    made = shipped_workloads("pod")
    assert made.size == Size(pods=1, gpus=2)
    pod = made.manifest(4)
    assert (pod["kind"], pod["spec"]["restartPolicy"]) == ("Pod", "Never")
    assert pod["metadata"]["annotations"] == {"lab.psap.perf/duration": "30s"}


def test_trainer_duration_on_a_lab_is_not_set() -> None:
    labels = "{lab.psap.perf/trainer: fms}"
    made = workloads(f"{{apiVersion: v1, kind: Pod, metadata: {{labels: {labels}}}, spec: {{containers: []}}}}")
    assert "annotations" not in made.manifest(0)["metadata"]


def test_pod_workload_of_several_pods_is_refused() -> None:
    with pytest.raises(UsageError, match="pods is 3, but a workload of kind Pod is one pod"):
        workloads("{apiVersion: v1, kind: Pod, spec: {containers: []}}", plan_pods=3)


def test_deployment_selects_and_restarts_its_pods() -> None:
    made = shipped_workloads("deployment")
    manifest = made.manifest(9)
    selected = manifest["spec"]["selector"]["matchLabels"]
    assert selected == {"psap.perf/workload": made.name(9)}
    template = manifest["spec"]["template"]
    assert template["metadata"]["labels"].items() >= selected.items()
    assert template["spec"]["restartPolicy"] == "Always"
    assert "annotations" not in template["metadata"]


@pytest.mark.parametrize(
    ("name", "suspended"),
    [
        ("job", {"spec": {"suspend": True}}),
        ("indexedjob", {"spec": {"suspend": True}}),
        ("jobset", {"spec": {"suspend": True}}),
        ("raycluster", {"spec": {"suspend": True}}),
        ("rayjob", {"spec": {"suspend": True}}),
        ("trainjob", {"spec": {"suspend": True}}),
        ("pytorchjob", {"spec": {"runPolicy": {"suspend": True}}}),
        ("pod", {}),
        ("deployment", {}),
        ("leaderworkerset", {}),
    ],
)
def test_queue_is_kueues_label_and_jobs_wait_suspended(name: str, suspended: dict[str, Any]) -> None:
    made = shipped_workloads(name, queue="team-a")
    manifest = made.manifest(0)
    assert made.queue == manifest["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] == "team-a"
    assert patched(manifest, suspended) == manifest
    without = shipped_workloads(name)
    assert without.queue is None
    assert "suspend" not in without.body(0).decode()


def test_patch_sets_any_field_except_reserved_ones() -> None:
    patch = {
        "metadata": {"name": "mine", "labels": {"team": "a", "psap.perf/run": "mine"}},
        "spec": {
            "backoffLimit": 6,
            "template": {
                "spec": {
                    "containers": [
                        {"name": "pytorch", "image": "other:2", "env": [{"name": "A", "value": "{{ 1 }}"}]},
                        {"name": "second", "image": "more:1"},
                    ],
                    "automountServiceAccountToken": None,
                }
            },
        },
    }
    made = shipped_workloads("job", patch=patch)
    manifest = made.manifest(2)
    assert manifest["metadata"]["name"] == made.name(2)
    assert manifest["metadata"]["labels"]["team"] == "a"
    assert manifest["metadata"]["labels"]["psap.perf/run"] == made.submission.run
    assert manifest["spec"]["backoffLimit"] == 6
    spec = manifest["spec"]["template"]["spec"]
    assert "automountServiceAccountToken" not in spec
    first, second = spec["containers"]
    # fields that the patch does not name stay
    assert (first["image"], first["command"]) == ("other:2", ["sleep", "30"])
    assert first["resources"]["limits"]["nvidia.com/gpu"] == 2
    assert second == {"name": "second", "image": "more:1"}


def test_gpus_of_a_patch_are_counted() -> None:
    limits = {"resources": {"limits": {"nvidia.com/gpu": 8}}}
    patch = {"spec": {"template": {"spec": {"containers": [{"name": "pytorch", **limits}]}}}}
    assert shipped_workloads("job", patch=patch).size == Size(pods=4, gpus=32)


@pytest.mark.parametrize(
    ("value", "patch", "expected"),
    [
        ({"a": {"b": 1, "c": 2}}, {"a": {"b": 3}}, {"a": {"b": 3, "c": 2}}),
        ({"a": 1}, {"a": None, "b": None}, {}),
        ({"a": 1}, {"a": {"b": {"c": None, "d": 1}}}, {"a": {"b": {"d": 1}}}),
        ([{"name": "x", "v": 1}], [{"name": "y"}], [{"name": "x", "v": 1}, {"name": "y"}]),
        ([{"name": "x", "v": 1, "w": 2}], [{"name": "x", "v": None}], [{"name": "x", "w": 2}]),
        # Lists without names, with repeated names, or empty: replaced
        (["a", "b"], ["c"], ["c"]),
        ([{"key": "a"}], [{"key": "b"}], [{"key": "b"}]),
        ([{"name": "x"}, {"name": "x"}], [{"name": "y"}], [{"name": "y"}]),
        ([{"name": "x"}], [], []),
    ],
)
def test_patch_merges_by_key_and_name_and_otherwise_replaces(value: Any, patch: Any, expected: Any) -> None:
    before = json.dumps(value)
    assert patched(value, patch) == expected
    assert json.dumps(value) == before


def test_object_and_pods_have_own_labels() -> None:
    made = shipped_workloads("job")
    manifest = made.manifest(3)
    expected = made.submission.labels(3, made.name(3))
    assert manifest["metadata"]["labels"].items() >= expected.items()
    assert manifest["spec"]["template"]["metadata"]["labels"].items() >= expected.items()
    assert expected["app.kubernetes.io/managed-by"] == "psap.perf"


def test_custom_template_keeps_its_labels_but_not_reserved_ones() -> None:
    labels = workloads(OWN).manifest(0)["metadata"]["labels"]
    assert labels["kept"] == "yes"
    assert labels["psap.perf/run"] == "scale_test-20261121T000000Z-abcdef"


@pytest.mark.parametrize(
    ("insert", "expected"),
    [
        ("{{ name }}/{{ index }}/{{ namespace }}", "{name}/5/test"),
        ("{{ index % 2 }}", "1"),
        ("{% if index == 5 %}five{% else %}other{% endif %}", "five"),
        ("{% set twice = index * 2 %}{{ twice }}", "10"),
        ("{{ name | upper }}", "{NAME}"),
    ],
)
def test_name_and_index_can_be_printed_or_computed_with(insert: str, expected: str) -> None:
    made = workloads(OWN.replace("INSERT", insert))
    name = made.name(5)
    assert made.manifest(5)["data"]["text"] == expected.format(name=name, NAME=name.upper())


def test_numeric_index_stays_a_number() -> None:
    assert workloads(OWN.replace('"INSERT"', "{{ index }}")).manifest(5)["data"]["text"] == 5


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (
            "kind: {{ nothing }}",
            "own.yml.j2: 'nothing' is undefined; it may use: .*index, memory, name, namespace",
        ),
        ("a\n{% if %}", "own.yml.j2:2: "),
        ("[1, 2]", "renders no Kubernetes object, but a list"),
        ("kind: Job", "renders no apiVersion"),
        ("a: [", "cannot be rendered"),
    ],
)
def test_unusable_template_is_refused_with_its_name(source: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        workloads(source)


def test_names_differ_by_run_and_directory_but_not_by_attempt() -> None:
    one = Submission.of("run-1", "001__a")
    assert one == Submission.of("run-1", "001__a")
    others = {Submission.of("run-1", "002__a").name(0), Submission.of("run-2", "001__a").name(0)}
    assert one.name(0) not in others
    assert len(others) == 2


def test_workload_is_found_in_the_names_of_its_objects() -> None:
    one = Submission.of("run-1", "001__a")
    name = one.name(7)
    assert [one.workload_in(text) for text in (name, f"{name}-x7k2p", f"{name}-worker-0")] == [name] * 3
    assert one.workload_in(f"x{name}") is None
    assert one.workload_in("other-00007") is None


def test_label_value_is_short_and_safe_and_keeps_its_end() -> None:
    assert label_value("a/b c") == "a-b-c"
    long = label_value("x" * 100 + "-end")
    assert len(long) == 63
    assert long.endswith("-end")


def test_workload_of_a_pod_is_its_label_controller_or_owner() -> None:
    assert workload_of({"labels": {"psap.perf/workload": "w", "job-name": "j"}}) == "w"
    assert workload_of({"labels": {"training.kubeflow.org/job-name": "p"}}) == "p"
    owner = {"kind": "ReplicaSet", "name": "r", "controller": True}
    assert workload_of({"ownerReferences": [owner]}) == "r"
    assert workload_of({}) is None


@pytest.mark.parametrize("kind", ["job", "pytorchjob", "trainjob"])
def test_scheduler_name_is_set_in_every_pod_template(kind: str) -> None:
    source = (TEMPLATES / f"{kind}.yml.j2").read_text()
    plan = WorkloadPlan(
        source, kind, "test", 2, VARIABLES | {"pods": 2}, {}, folder=TEMPLATES, scheduler_name="packing"
    )
    made = Workloads(plan, Submission.of("run-1", "001__a"))
    templates = manifests.pod_templates(made.manifest(0)) + manifests.pod_templates(made.runtime or {})
    assert templates
    assert {one["spec"]["schedulerName"] for one in templates} == {"packing"}


def test_scheduler_name_is_refused_for_a_kind_without_pod_template() -> None:
    plan = WorkloadPlan("{apiVersion: v1, kind: ConfigMap}", "own", "test", 1, {}, {}, scheduler_name="packing")
    with pytest.raises(UsageError, match="a ConfigMap has no pod template whose scheduler"):
        Workloads(plan, Submission.of("run-1", "001__a"))
