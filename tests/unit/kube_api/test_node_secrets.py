"""Files of a MachineConfig may be secret: they are sent to the server, and neither written nor printed."""

from __future__ import annotations

import base64
import json
import urllib.parse
from pathlib import Path
from typing import Any, cast

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.documents import dump_yaml
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.kube_api.applying import Replacing, apply_all, delete_all
from ansible_collections.psap.perf.plugins.module_utils.kube_api.capturing import (
    Capture,
    CapturedObjects,
    capture_objects,
)
from ansible_collections.psap.perf.plugins.module_utils.kube_api.client import Cluster
from ansible_collections.psap.perf.plugins.module_utils.kube_api.manifests import Manifest, readable, with_secrets
from ansible_collections.psap.perf.plugins.module_utils.kube_api.merging import Change, patch_all
from ansible_collections.psap.perf.plugins.module_utils.kube_api.query import Query
from ansible_collections.psap.perf.plugins.module_utils.secrets.leaks import scan_directory

API_VERSION = "machineconfiguration.openshift.io/v1"
PATH, OTHER_PATH = "/etc/pki/entitlement/entitlement.pem", "/etc/sysctl.d/perf.conf"
# a certificate, so that only its place shows that it must be hidden
PEM = "-----BEGIN CERTIFICATE-----\n" + "\n".join(f"{number:02d}" * 32 for number in range(20)) + "\n"
CONFIG: Manifest = {
    "apiVersion": API_VERSION,
    "kind": "MachineConfig",
    "metadata": {"name": "50-pem", "labels": {"machineconfiguration.openshift.io/role": "worker"}},
    "spec": {
        "config": {
            "ignition": {"version": "3.4.0"},
            "storage": {
                "files": [
                    {"path": PATH, "mode": 384},
                    {"path": OTHER_PATH, "mode": 420, "contents": {"source": "data:,vm.swappiness%3D1%0A"}},
                ]
            },
        }
    },
}


class Server:
    """Stores MachineConfigs, and creates a rendered one for each, like the operator."""

    def __init__(self) -> None:
        self.objects: dict[str, Manifest] = {}

    def serves(self, _api_version: str, _kind: str) -> bool:
        return True

    def is_namespaced(self, _api_version: str, _kind: str) -> bool:
        return False

    def get(self, query: Query) -> Manifest | None:
        return self.objects.get(str(query.name))

    def list(self, query: Query) -> tuple[list[Manifest], str]:
        return [item for name, item in self.objects.items() if query.name in (None, name)], "1"

    def apply(self, manifest: Manifest, *, dry_run: bool = False) -> Manifest:
        annotations = {"kubectl.kubernetes.io/last-applied-configuration": json.dumps(manifest)}
        version = {"resourceVersion": str(len(self.objects)), "annotations": annotations}
        result = {**manifest, "metadata": {**manifest["metadata"], **version}}
        if not dry_run:
            for name in (manifest["metadata"]["name"], "rendered-worker-0"):
                self.objects[name] = {**result, "metadata": {**result["metadata"], "name": name}}
        return result

    def merge(self, query: Query, patch: Manifest, *, dry_run: bool = False) -> Manifest:
        return {**self.objects[str(query.name)], **patch}

    def delete(self, query: Query, *, propagation: str) -> bool:
        return self.objects.pop(str(query.name), None) is not None


def secret_config() -> Manifest:
    return with_secrets([CONFIG], {"50-pem": {PATH: PEM}})[0]


def shown_files(item: Manifest) -> dict[str, str]:
    return {each["path"]: each["contents"]["source"] for each in item["spec"]["config"]["storage"]["files"]}


@pytest.mark.parametrize("check", [False, True])
def test_pem_reaches_only_the_server(tmp_path: Path, check: bool) -> None:
    server, artifacts = Server(), tmp_path / "artifacts"
    cluster, config = cast(Cluster, server), secret_config()
    artifacts.mkdir()
    replacing = Replacing(frozenset(), 1.0, lambda: None)
    outcomes = [*apply_all(cluster, [config], False, replacing), *apply_all(cluster, [config], check, replacing)]
    assert base64.b64encode(PEM.encode()).decode() in str(server.objects["rendered-worker-0"])
    capture = Capture(artifacts)
    wanted = CapturedObjects(
        "MachineConfig", None, None, None, None, None, ("yaml",), show_labels=False, when_served=False
    )
    capture_objects(capture, cluster, wanted)
    (artifacts / "look.yml").write_text(dump_yaml([readable(item) for item in server.list(Query(API_VERSION, "x"))[0]]))
    query = Query(API_VERSION, "MachineConfig", name="50-pem")
    changed = {"spec": with_secrets([CONFIG], {"50-pem": {PATH: PEM, OTHER_PATH: PEM}})[0]["spec"]}
    outcomes += patch_all(cluster, query, Change(changed), check, lambda: None)
    outcomes += delete_all(cluster, [config], check, 1.0, lambda: None)
    (artifacts / "differences.json").write_text(json.dumps([each.difference for each in outcomes]))
    assert capture.files == ["artifacts/machineconfig.yml"]
    assert "rendered-worker-0" in (artifacts / "machineconfig.yml").read_text()
    assert scan_directory(artifacts, [PEM]) == []


def test_file_is_shown_by_path_mode_size_and_sum() -> None:
    shown = readable(secret_config())
    assert shown_files(shown)[PATH].startswith(f"(secret), {len(PEM)} bytes, sha256 ")
    assert shown["spec"]["config"]["storage"]["files"][0]["mode"] == 384
    other = readable(with_secrets([CONFIG], {"50-pem": {PATH: PEM + "x"}})[0])
    assert shown_files(other)[PATH].split("sha256 ")[1] != shown_files(shown)[PATH].split("sha256 ")[1]
    assert shown_files(shown)[OTHER_PATH] == shown_files(other)[OTHER_PATH]


def test_content_is_shown_equally_in_any_encoding() -> None:
    encoded = base64.b64encode(PEM.encode()).decode()
    sources = (
        f"data:,{urllib.parse.quote(PEM)}",
        f"data:text/plain;charset=utf-8;base64,{encoded}",
        f"DATA:;base64,{urllib.parse.quote(encoded)}",
    )
    files = [{"path": f"/{number}", "contents": {"source": source}} for number, source in enumerate(sources)]
    shown = readable({**CONFIG, "spec": {"config": {"storage": {"files": files}}}})
    assert len(set(shown_files(shown).values())) == 1


@pytest.mark.parametrize(
    "config",
    [
        {"storage": {"files": [{"path": PATH, "append": [{"source": f"data:,{urllib.parse.quote(PEM)}"}]}]}},
        {"storage": {"luks": [{"keyFile": {"source": f"data:,{urllib.parse.quote(PEM)}"}}]}},
        {"ignition": {"config": {"merge": [{"source": f"data:;base64,not {urllib.parse.quote(PEM)}"}]}}},
        {"passwd": {"users": [{"name": "core", "passwordHash": PEM}]}},
    ],
)
def test_contents_at_other_places_are_hidden(config: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "shown.yml").write_text(dump_yaml(readable({**CONFIG, "spec": {"config": config}})))
    assert scan_directory(tmp_path, [PEM]) == []


def test_other_fields_are_kept() -> None:
    spec = {
        "kernelArguments": ["hugepages=64"],
        "config": {"storage": {"files": [{"path": PATH, "contents": {"source": "https://example.org/file"}}]}},
    }
    assert readable({**CONFIG, "spec": spec})["spec"] == spec


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"50-pem": {"/etc/other": "x"}}, "MachineConfig 50-pem has no file /etc/other"),
        ({"51-pem": {PATH: "x"}}, "no manifest of a Secret or MachineConfig 51-pem"),
    ],
)
def test_secret_without_a_place_is_refused(values: dict[str, dict[str, str]], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        with_secrets([CONFIG], values)


def test_config_without_files_has_no_place_for_a_secret() -> None:
    with pytest.raises(UsageError, match="MachineConfig 50-pem has no file"):
        with_secrets([{**CONFIG, "spec": {"kernelArguments": []}}], {"50-pem": {PATH: "x"}})
