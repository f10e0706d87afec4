"""Applying against a server that keeps objects in memory."""

from __future__ import annotations

import base64
import copy
from collections.abc import Iterator
from typing import Any, cast

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.kube_api.api_errors import InvalidError
from ansible_collections.psap.perf.plugins.module_utils.kube_api.applying import (
    Outcome,
    Replacing,
    apply_all,
    delete_all,
)
from ansible_collections.psap.perf.plugins.module_utils.kube_api.client import Cluster
from ansible_collections.psap.perf.plugins.module_utils.kube_api.manifests import (
    Manifest,
    hidden,
    readable,
    with_secrets,
)
from ansible_collections.psap.perf.plugins.module_utils.kube_api.query import Query

JOB: Manifest = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j", "namespace": "x"}, "spec": {"a": 1}}
SECRET: Manifest = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s", "namespace": "x"}}
NOTHING = Replacing(frozenset(), 1.0, lambda: None)
JOBS = Replacing(frozenset({"Job"}), 1.0, lambda: None)


class Server:
    """Stores applied objects; refuses to change the spec of Jobs and claims, like a real cluster."""

    def __init__(self, *served: str) -> None:
        self.objects: dict[tuple[str, str], Manifest] = {}
        self.served = served or ("Job", "Secret", "PersistentVolumeClaim")
        self.version = 0
        self.calls: list[str] = []

    def serves(self, api_version: str, kind: str) -> bool:
        return kind in self.served

    def get(self, query: Query) -> Manifest | None:
        return copy.deepcopy(self.objects.get((query.kind, str(query.name))))

    def apply(self, manifest: Manifest, *, dry_run: bool = False) -> Manifest:
        key = (manifest["kind"], manifest["metadata"]["name"])
        former = self.objects.get(key)
        if former is not None and former.get("spec") != manifest.get("spec") and key[0] != "Secret":
            raise InvalidError(f"{key[0]} {key[1]} is invalid: spec.a: Invalid value: field is immutable")
        result = copy.deepcopy(manifest)
        same = former is not None and all(former.get(field) == result.get(field) for field in ("spec", "data"))
        result["metadata"]["resourceVersion"] = former["metadata"]["resourceVersion"] if same and former else "new"
        if not dry_run:
            if not same:
                self.version += 1
                result["metadata"]["resourceVersion"] = str(self.version)
            self.objects[key] = result
            self.calls.append(f"apply {key[1]}")
        return copy.deepcopy(result)

    def delete(self, query: Query, *, propagation: str = "Background") -> bool:
        self.calls.append(f"delete {query.name} {propagation}")
        return self.objects.pop((query.kind, str(query.name)), None) is not None

    def list(self, query: Query) -> tuple[list[Manifest], str]:
        found = self.objects.get((query.kind, str(query.name)))
        return ([{**found, "metadata": {**found["metadata"], "uid": "u"}}] if found else []), "1"

    def watch(self, query: Query, resource_version: str, timeout_s: int) -> Iterator[tuple[str, Manifest]]:
        yield from ()


def apply_manifest(
    server: Server, manifest: Manifest, replacing: Replacing = NOTHING, *, check: bool = False
) -> Outcome:
    return apply_all(cast(Cluster, server), [manifest], check, replacing)[0]


def changed_job() -> Manifest:
    return {**JOB, "spec": {"a": 2}}


def test_namespace_keeps_the_labels_of_other_commands() -> None:
    server = Server("Namespace")
    space: Manifest = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "n"}}
    marked = {**space, "metadata": {"name": "n", "labels": {"psap.perf/made-for": "a", "other": "b"}}}
    apply_manifest(server, marked)
    apply_manifest(server, {**space, "metadata": {"name": "n", "labels": {"psap.perf/users-of": "c"}}})
    assert server.objects["Namespace", "n"]["metadata"]["labels"] == {
        "psap.perf/made-for": "a",
        "psap.perf/users-of": "c",
    }
    assert "labels" not in space["metadata"]


def test_second_apply_changes_nothing() -> None:
    server = Server()
    assert apply_manifest(server, JOB).changed
    assert not apply_manifest(server, JOB).changed


def test_check_mode_shows_changes_without_making_them() -> None:
    server = Server()
    outcome = apply_manifest(server, JOB, check=True)
    assert outcome.changed
    assert "name: j" in outcome.after
    assert (server.objects, server.calls) == ({}, [])


def test_check_mode_shows_objects_of_unserved_kinds() -> None:
    assert apply_manifest(Server("Secret"), JOB, check=True).after.startswith("apiVersion: batch/v1")


def test_immutable_object_is_refused_unless_replaceable() -> None:
    server = Server()
    apply_manifest(server, JOB)
    with pytest.raises(InvalidError, match="immutable"):
        apply_manifest(server, changed_job())
    assert apply_manifest(server, changed_job(), JOBS).changed
    assert server.objects["Job", "j"]["spec"] == {"a": 2}
    assert server.calls == ["apply j", "delete j Foreground", "apply j"]


def test_check_mode_shows_a_replacement_without_deleting() -> None:
    server = Server()
    apply_manifest(server, JOB)
    outcome = apply_manifest(server, changed_job(), JOBS, check=True)
    assert ("a: 1" in outcome.before, "a: 2" in outcome.after) == (True, True)
    assert server.calls == ["apply j"]


def test_claim_is_not_replaced_for_a_job() -> None:
    server = Server()
    claim = {**JOB, "apiVersion": "v1", "kind": "PersistentVolumeClaim"}
    apply_manifest(server, claim, JOBS)
    with pytest.raises(InvalidError):
        apply_manifest(server, {**claim, "spec": {"a": 2}}, JOBS)
    assert "delete" not in " ".join(server.calls)


def test_invalid_manifest_deletes_nothing() -> None:
    class Strict(Server):
        def apply(self, manifest: Manifest, *, dry_run: bool = False) -> Manifest:
            if manifest["spec"] == {"a": "two"}:
                raise InvalidError("Job j is invalid: spec.a: Invalid value: must be a number")
            return super().apply(manifest, dry_run=dry_run)

    server = Strict()
    apply_manifest(server, JOB)
    with pytest.raises(InvalidError, match="must be a number"):
        apply_manifest(server, {**JOB, "spec": {"a": "two"}}, JOBS)
    assert server.calls == ["apply j"]


def test_deletion_waits_for_dependents_and_is_idempotent() -> None:
    server = Server()
    apply_manifest(server, JOB)
    outcomes = [delete_all(cast(Cluster, server), [JOB], False, 1.0, lambda: None)[0] for _time in range(2)]
    assert [outcome.changed for outcome in outcomes] == [True, False]
    assert server.calls[1:] == ["delete j Foreground"]


def test_secrets_reach_only_the_server() -> None:
    server = Server()
    (manifest,) = with_secrets([SECRET], {"s": {"password": "correct horse"}})
    outcome = apply_manifest(server, manifest)
    encoded = base64.b64encode(b"correct horse").decode()
    assert server.objects["Secret", "s"]["data"] == {"password": encoded}
    assert encoded not in outcome.after
    assert "password: (secret)" in outcome.after
    (other,) = with_secrets([SECRET], {"s": {"password": "battery staple"}})
    outcome = apply_manifest(server, other)
    assert outcome.changed
    assert outcome.before == outcome.after


def test_every_secret_value_is_hidden_regardless_of_origin() -> None:
    found: dict[str, Any] = {**SECRET, "data": {"a": "eA=="}, "stringData": {"b": "y"}}
    assert hidden(found)["data"] == {"a": "(secret)"}
    assert readable(found)["stringData"] == {"b": "(secret)"}
    assert found["data"] == {"a": "eA=="}


def test_last_applied_annotation_of_a_secret_is_hidden() -> None:
    annotations = {"kubectl.kubernetes.io/last-applied-configuration": '{"data": {"a": "eA=="}}', "other": "kept"}
    metadata = {"name": "s", "annotations": annotations, "managedFields": []}
    for shown in (hidden({**SECRET, "metadata": metadata}), readable({**SECRET, "metadata": metadata})):
        assert "eA==" not in str(shown)
        assert shown["metadata"]["annotations"]["other"] == "kept"
    assert "eA==" in str(readable({**JOB, "metadata": metadata}))
    assert "eA==" in str(metadata)


def test_secret_without_a_manifest_is_named() -> None:
    with pytest.raises(UsageError, match="no manifest of a Secret or MachineConfig minio"):
        with_secrets([SECRET], {"minio": {"password": "correct horse"}})
