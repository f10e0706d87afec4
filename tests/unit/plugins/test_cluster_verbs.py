"""The verbs that act on any object, called in this process against a real API server without nodes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.psap.perf.plugins.module_utils.base.errors import PerfError, UsageError, WaitTimeoutError
from ansible_collections.psap.perf.plugins.module_utils.kube_api.api_errors import InvalidError
from ansible_collections.psap.perf.plugins.module_utils.waiting.waiting import NotReachedError
from kubernetes import client, config

from tests.unit.plugins.verbs import Verbs

pytestmark = pytest.mark.slow
ESTABLISHED = "status.conditions[?type=='Established'].status | [0] == 'True'"
HELD = {"finalizers": ["tests.example/held"]}


def config_map(name: str, *, labels: dict[str, str] | None = None, **data: str) -> dict[str, Any]:
    metadata = {"name": name, "labels": labels or {}}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


def job(image: str) -> dict[str, Any]:
    pod = {"restartPolicy": "Never", "containers": [{"name": "main", "image": image}]}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j"}, "spec": {"template": {"spec": pod}}}


def names(verbs: Verbs, kind: str, namespace: str | None = None, **chosen: str) -> list[str]:
    found = verbs("get", kind=kind, namespace=namespace, query="metadata.name", **chosen)
    # Each namespace has one from its controller.
    return [name for name in found.values["objects"] if name != "kube-root-ca.crt"]


def fields(verbs: Verbs, kind: str, name: str, namespace: str | None = None) -> dict[str, Any]:
    (found,) = verbs("get", kind=kind, name=name, namespace=namespace).values["objects"]
    return dict(found)


def test_apply_changes_an_object_once(verbs: Verbs, namespace: str) -> None:
    arguments = {"definition": [config_map("c", a="1")], "namespace": namespace, "labels": {"app": "x"}}
    first, second = verbs("apply", **arguments), verbs("apply", **arguments)
    assert (first.changed, second.changed) == (True, False)
    assert second.values["objects"] == [{"object": f"ConfigMap {namespace}/c", "changed": False}]
    made = fields(verbs, "ConfigMap", "c", namespace)
    assert (made["data"], made["metadata"]["labels"]["app"]) == ({"a": "1"}, "x")
    assert "psap.perf" in made["metadata"]["labels"]["app.kubernetes.io/managed-by"]


def test_apply_removes_what_the_manifest_no_longer_has(verbs: Verbs, namespace: str) -> None:
    verbs("apply", definition=[config_map("c", a="1", b="2")], namespace=namespace)
    assert verbs("apply", definition=[config_map("c", a="1")], namespace=namespace).changed
    assert fields(verbs, "ConfigMap", "c", namespace)["data"] == {"a": "1"}


def test_apply_in_check_mode_shows_the_difference_only(verbs: Verbs, namespace: str) -> None:
    verbs("apply", definition=[config_map("c", a="1")], namespace=namespace)
    both = [config_map("c", a="2"), config_map("new")]
    shown = verbs.check("apply", definition=both, namespace=namespace)
    assert shown.changed
    assert isinstance(shown.diff, list)
    assert [("a: '1'" in each["before"], "a: '2'" in each["after"]) for each in shown.diff] == [
        (True, True),
        (False, False),
    ]
    assert fields(verbs, "ConfigMap", "c", namespace)["data"] == {"a": "1"}
    assert names(verbs, "ConfigMap", namespace) == ["c"]


def test_apply_sends_secrets_to_the_server_only(verbs: Verbs, namespace: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TESTS_PASSWORD", "open sesame")
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}}
    done = verbs("apply", definition=[secret], namespace=namespace, secrets={"s": {"password": "env:TESTS_PASSWORD"}})
    with config.new_client_from_config(str(verbs.kubeconfig)) as api:
        assert client.CoreV1Api(api).read_namespaced_secret("s", namespace).data == {"password": "b3BlbiBzZXNhbWU="}
    (kept,) = (verbs.directory / "src").glob("secret_*.yml")
    for text in (kept.read_text(encoding="utf-8"), str(done)):
        assert "(secret)" in text
        assert "b3BlbiBzZXNhbWU=" not in text
        assert "open sesame" not in text


def test_apply_replaces_an_immutable_object_if_allowed(verbs: Verbs, namespace: str) -> None:
    verbs("apply", definition=[job("registry.invalid/a:1")], namespace=namespace)
    changed = {"definition": [job("registry.invalid/a:2")], "namespace": namespace}
    with pytest.raises(InvalidError, match="immutable"):
        verbs("apply", **changed)
    before = fields(verbs, "Job", "j", namespace)["metadata"]["uid"]
    assert verbs("apply", **changed, replace=["Job"]).changed
    after = fields(verbs, "Job", "j", namespace)
    assert after["metadata"]["uid"] != before
    assert after["spec"]["template"]["spec"]["containers"][0]["image"] == "registry.invalid/a:2"


def test_apply_skips_kinds_that_are_not_served(verbs: Verbs, namespace: str) -> None:
    route = {"apiVersion": "route.openshift.io/v1", "kind": "Route", "metadata": {"name": "r"}}
    both = {"definition": [config_map("c"), route], "namespace": namespace}
    assert len(verbs("apply", **both, when_served=["Route"]).values["objects"]) == 1
    with pytest.raises(PerfError, match="Route"):
        verbs("apply", **both)


def test_apply_absent_deletes_in_reverse_order(verbs: Verbs, namespace: str) -> None:
    both = {"definition": [config_map("first"), config_map("second")], "namespace": namespace}
    verbs("apply", **both)
    done = verbs("apply", **both, state="absent")
    titles = [each["object"] for each in done.values["objects"]]
    assert titles == [f"ConfigMap {namespace}/{name}" for name in ("second", "first")]
    assert names(verbs, "ConfigMap", namespace) == []
    assert not verbs("apply", **both, state="absent").changed


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({}, "either template or definition"),
        ({"definition": [config_map("c")], "template": "t.yml.j2"}, "either template or definition"),
        ({"definition": [config_map("c")], "patch": {"Job": {}}}, "Job"),
        ({"definition": [config_map("c")], "secrets": {"c": {"key": "in plain text"}}}, r"secrets\.c\.key"),
    ],
)
def test_apply_refuses_contradictory_arguments(
    arguments: dict[str, Any], reason: str, verbs: Verbs, namespace: str
) -> None:
    with pytest.raises(UsageError, match=reason):
        verbs("apply", **arguments, namespace=namespace)
    assert names(verbs, "ConfigMap", namespace) == []


def test_delete_removes_matching_objects_of_each_kind(verbs: Verbs, namespace: str) -> None:
    labels = {"app": "x"}
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s", "labels": labels}}
    both = [config_map("c", labels=labels), config_map("d", labels=labels), config_map("other"), secret]
    verbs("apply", definition=both, namespace=namespace)
    kinds = [{"kind": "ConfigMap"}, {"kind": "Secret"}, {"kind": "Route"}]
    chosen = {"kinds": kinds, "namespace": [namespace], "label_selector": "app=x"}
    deleted = {"ConfigMap": 2, "Secret": 1, "Route": 0}
    assert verbs.check("delete", **chosen).values["deleted"] == deleted
    assert names(verbs, "ConfigMap", namespace) == ["c", "d", "other"]
    done = verbs("delete", **chosen)
    assert (done.changed, done.values["deleted"]) == (True, deleted)
    assert names(verbs, "ConfigMap", namespace) == ["other"]
    assert not verbs("delete", **chosen).changed


def test_delete_names_an_object_that_a_finalizer_holds(verbs: Verbs, namespace: str) -> None:
    held = config_map("c")
    held["metadata"] |= HELD
    verbs("apply", definition=[held], namespace=namespace)
    chosen = {"kinds": [{"kind": "ConfigMap"}], "namespace": [namespace], "name": ["c"]}
    with pytest.raises(WaitTimeoutError, match="still there: c; a finalizer may hold them"):
        verbs("delete", **chosen, timeout="0.1")
    verbs("patch", kind="ConfigMap", name="c", namespace=namespace, change={"metadata": {"finalizers": None}})
    assert names(verbs, "ConfigMap", namespace) == []


def test_delete_without_name_or_selector_is_refused(verbs: Verbs, namespace: str) -> None:
    with pytest.raises(UsageError, match="accepts a name or a label_selector"):
        verbs("delete", kinds=[{"kind": "ConfigMap"}], namespace=[namespace])


def test_patch_changes_only_objects_that_differ(verbs: Verbs, namespace: str) -> None:
    verbs("apply", definition=[config_map("c", a="1", b="2"), config_map("d", a="2")], namespace=namespace)
    every = {"kind": "ConfigMap", "namespace": namespace, "label_selector": "app.kubernetes.io/managed-by"}
    change = {"data": {"a": "2", "b": None}}
    assert len(verbs.check("patch", **every, change=change).values["patched"]) == 1
    assert fields(verbs, "ConfigMap", "c", namespace)["data"] == {"a": "1", "b": "2"}
    assert verbs("patch", **every, change=change).values["patched"] == [f"ConfigMap {namespace}/c"]
    assert fields(verbs, "ConfigMap", "c", namespace)["data"] == {"a": "2"}
    assert not verbs("patch", **every, change=change).changed


def test_patch_of_a_key_keeps_its_other_values(verbs: Verbs, namespace: str) -> None:
    one = {"kind": "ConfigMap", "name": "c", "namespace": namespace, "key": "config.yaml"}
    assert verbs("patch", **one, change={"a": {"b": 1}}).changed
    assert verbs("patch", **one, change={"a": {"c": 2}}).changed
    text = fields(verbs, "ConfigMap", "c", namespace)["data"]["config.yaml"]
    assert yaml.safe_load(text) == {"a": {"b": 1, "c": 2}}


@pytest.mark.parametrize(
    "chosen",
    [
        {"name": "c", "label_selector": "a=b"},
        {"name": ""},
        {"name": "c", "key": "k"},
        {"namespace": "default", "key": "k"},
    ],
)
def test_patch_refuses_an_ambiguous_choice(chosen: dict[str, str], verbs: Verbs) -> None:
    with pytest.raises(UsageError, match="patch accepts"):
        verbs("patch", kind="ConfigMap", change={}, **chosen)


def test_patch_of_a_missing_object_fails(verbs: Verbs, namespace: str) -> None:
    with pytest.raises(PerfError, match="nothing"):
        verbs("patch", kind="Secret", name="nothing", namespace=namespace, change={"data": {}})


def definition(group: str) -> dict[str, Any]:
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    version = {"name": "v1", "served": True, "storage": True, "schema": schema}
    kinds = {"kind": "Thing", "plural": "things", "singular": "thing", "listKind": "ThingList"}
    spec = {"group": group, "scope": "Cluster", "names": kinds, "versions": [version]}
    metadata = {"name": f"things.{group}"}
    kind = "CustomResourceDefinition"
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": kind, "metadata": metadata, "spec": spec}


def test_purge_removes_definitions_and_objects_held_by_finalizers(verbs: Verbs) -> None:
    group = "purged.example"
    verbs("apply", definition=[definition(group)])
    verbs("wait", kind="CustomResourceDefinition", name=f"things.{group}", conditions=[ESTABLISHED], timeout="20s")
    thing = {"apiVersion": f"{group}/v1", "kind": "Thing", "metadata": {"name": "t", **HELD}}
    verbs("apply", definition=[thing])
    chosen = {"groups": [group], "finalizers_after": "0"}
    assert verbs.check("purge", **chosen).values["purged"] == {f"things.{group}": 1}
    assert names(verbs, "Thing", api_version=group) == ["t"]
    done = verbs("purge", **chosen)
    assert (done.changed, done.values["freed"]) == (True, ["Thing t"])
    assert "Thing t" in done.warnings[0]
    assert verbs("get", kind="Thing", api_version=group).values == {"objects": [], "served": False}
    assert not verbs("purge", **chosen).changed


def test_purge_without_groups_or_labels_is_refused(verbs: Verbs) -> None:
    with pytest.raises(UsageError, match="accepts groups or labels"):
        verbs("purge")


def test_get_returns_the_queried_part_of_each_object(verbs: Verbs, namespace: str) -> None:
    verbs("apply", definition=[config_map("c", a="1"), config_map("d", a="2")], namespace=namespace)
    managed = "app.kubernetes.io/managed-by"
    found = verbs("get", kind="ConfigMap", namespace=namespace, label_selector=managed, query="data.a")
    assert found.values == {"objects": ["1", "2"], "served": True}
    missing = verbs("get", kind="ConfigMap", namespace=namespace, name="e")
    assert missing.values == {"objects": [], "served": True}
    assert verbs("get", kind="Route", namespace=namespace).values == {"objects": [], "served": False}
    with pytest.raises(UsageError, match="is not a JMESPath expression"):
        verbs("get", kind="ConfigMap", query="a[")


def test_wait_returns_the_objects_that_reach_the_state(verbs: Verbs, namespace: str) -> None:
    verbs("apply", definition=[config_map("c", a="1")], namespace=namespace)
    one = {"kind": "ConfigMap", "namespace": namespace, "name": "c", "timeout": "5s"}
    done = verbs("wait", **one, conditions=["present", "data.a == '1'"])
    assert [item["metadata"]["name"] for item in done.values["objects"]] == ["c"]
    verbs("delete", kinds=[{"kind": "ConfigMap"}], namespace=[namespace], name=["c"])
    assert verbs("wait", **one, conditions=["absent"]).values["objects"] == []


def test_wait_that_times_out_keeps_the_last_objects(verbs: Verbs, namespace: str) -> None:
    verbs("apply", definition=[config_map("c", a="1")], namespace=namespace)
    chosen = {"kind": "ConfigMap", "namespace": namespace, "name": "c", "timeout": "0"}
    with pytest.raises(NotReachedError) as raised:
        verbs("wait", **chosen, conditions=["data.a == '2'"])
    assert raised.value.result == {"objects": [{"metadata": {"name": "c"}}]}
    (kept,) = yaml.safe_load_all((verbs.directory / "artifacts/awaited.yml").read_text(encoding="utf-8"))
    assert kept["data"] == {"a": "1"}
    assert not (verbs.directory / "waiting.json").exists()


def test_wait_counts_the_objects(verbs: Verbs, namespace: str) -> None:
    verbs("apply", definition=[config_map("c"), config_map("d")], namespace=namespace)
    managed = {"label_selector": "app.kubernetes.io/managed-by", "namespace": namespace, "timeout": "0"}
    assert len(verbs("wait", kind="ConfigMap", **managed, conditions=["present"], count=2).values["objects"]) == 2
    with pytest.raises(NotReachedError):
        verbs("wait", kind="ConfigMap", **managed, conditions=["present"], count=3)


def test_capture_writes_objects_tables_and_events(verbs: Verbs, namespace: str) -> None:
    verbs("apply", definition=[config_map("c", a="1")], namespace=namespace)
    wanted = [
        {"kind": "ConfigMap", "name": "c", "file": "maps"},
        {"kind": "Job", "formats": ["yaml"]},
        {"kind": "Route", "when_served": True},
    ]
    done = verbs("capture", namespace=namespace, objects=wanted, about=["cluster"])
    artifacts = ["cluster.yml", "maps.yml", "maps.txt", "job.yml", f"events_{namespace}.txt"]
    assert done.values == {"files": [f"artifacts/{name}" for name in artifacts], "not_captured": []}
    folder = verbs.directory / "artifacts"
    assert yaml.safe_load((folder / "maps.yml").read_text(encoding="utf-8"))["data"] == {"a": "1"}
    header, row = (folder / "maps.txt").read_text(encoding="utf-8").splitlines()
    assert (header.split()[:2], row.split()[:2]) == (["NAME", "DATA"], ["c", "1"])
    assert (folder / "job.yml").read_text(encoding="utf-8") == f"# no Job objects in {namespace}\n"
    assert yaml.safe_load((folder / "cluster.yml").read_text(encoding="utf-8"))["lab"]["nodes"] == "0"


def test_capture_hides_values_of_secrets(verbs: Verbs, namespace: str) -> None:
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "stringData": {"a": "open sesame"}}
    verbs("apply", definition=[secret], namespace=namespace)
    verbs("capture", namespace=namespace, objects=[{"kind": "Secret", "name": "s"}])
    text = (verbs.directory / "artifacts/secret.yml").read_text(encoding="utf-8")
    assert "b3BlbiBzZXNhbWU=" not in text
    assert "(secret)" in text


def test_capture_lists_what_it_cannot_get_and_succeeds(verbs: Verbs, namespace: str) -> None:
    done = verbs("capture", namespace=namespace, objects=[{"kind": "Route"}, {"kind": "Unknown"}])
    assert len(done.values["not_captured"]) == len(done.warnings) == 3
    listed = (verbs.directory / "artifacts/not_captured.txt").read_text(encoding="utf-8").splitlines()
    assert listed == done.values["not_captured"]


def test_capture_without_a_cluster_succeeds(tmp_path: Path) -> None:
    done = Verbs(tmp_path / "missing", tmp_path)("capture", objects=[{"kind": "Pod"}])
    assert done.values["files"] == ["artifacts/not_captured.txt"]
    assert len(done.warnings) == 1
