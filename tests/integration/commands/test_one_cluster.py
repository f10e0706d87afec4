"""A verb and a module of kubernetes.core reach the same cluster, on every kind of host and by every way to name it.

Two servers that serve only their own kube-system namespace represent two clusters: no lab is needed.
"""

from __future__ import annotations

import http.server
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.standins.http_servers import Quiet, served

PROJECT = Path(__file__).resolve().parents[3]
_KIND = {"kind": "Namespace", "name": "namespaces", "singularName": "", "namespaced": False, "verbs": ["get", "list"]}
_LOOK = {"kind": "Namespace", "name": "kube-system"}
_TASKS = [
    {"name": "Ask by a verb", "psap.perf.get": _LOOK, "register": "by_verb"},
    {"name": "Ask by a module", "kubernetes.core.k8s_info": {**_LOOK, "api_version": "v1"}, "register": "by_module"},
    {
        "name": "Write both down",
        "ansible.builtin.copy": {
            "dest": "{{ answers }}/{{ inventory_hostname }}",
            "content": "{{ [by_verb.objects[0].metadata.uid, by_module.resources[0].metadata.uid] | to_json }}",
            "mode": "0600",
        },
    },
]


def _server(uid: str) -> type[http.server.BaseHTTPRequestHandler]:
    system = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "kube-system", "uid": uid}}
    answers: dict[str, dict[str, Any]] = {
        "/version": {"major": "1", "minor": "33", "gitVersion": "v1.33.0"},
        "/api": {"kind": "APIVersions", "versions": ["v1"]},
        "/apis": {"kind": "APIGroupList", "apiVersion": "v1", "groups": []},
        "/api/v1": {"kind": "APIResourceList", "groupVersion": "v1", "resources": [_KIND]},
        "/api/v1/namespaces/kube-system": system,
        "/api/v1/namespaces": {"kind": "NamespaceList", "apiVersion": "v1", "metadata": {}, "items": [system]},
    }

    class Handler(Quiet, http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            answer = answers.get(self.path.partition("?")[0].rstrip("/"))
            body = json.dumps(answer or {"kind": "Status", "code": 404}).encode()
            self.send_response(200 if answer else 404)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    return Handler


@pytest.fixture(scope="module")
def kubeconfigs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Path]]:
    """Return kubeconfigs of two clusters, ``one`` and ``other``; the uid of a cluster's kube-system is its name."""
    folder = tmp_path_factory.mktemp("kubeconfigs")
    with ExitStack() as servers:
        for name in ("one", "other"):
            address = servers.enter_context(served(_server(name)))
            named = {"name": name, "cluster": {"server": address}}
            context = {"name": name, "context": {"cluster": name, "user": name}}
            user: dict[str, Any] = {"name": name, "user": {}}
            document = {"clusters": [named], "contexts": [context], "users": [user], "current-context": name}
            (folder / name).write_text(yaml.safe_dump({"apiVersion": "v1", "kind": "Config", **document}))
        yield {name: folder / name for name in ("one", "other")}


def _answers(folder: Path, variables: dict[str, Any], environment: dict[str, str]) -> dict[str, list[str]]:
    """Return the uids that each host's verb and module got."""
    (folder / "answers").mkdir()
    local = {
        "ansible_connection": "local",
        "ansible_python_interpreter": sys.executable,
        "answers": f"{folder}/answers",
    }
    hosts = {
        "all": {
            "vars": {**local, "answers": f"{folder}/answers"},
            "hosts": {"sutest": variables, "localhost": variables},
        }
    }
    (folder / "hosts.yml").write_text(yaml.safe_dump(hosts))
    lane = {"name": "lane", "groups": ["lanes"], "perf_lane_of": "sutest"}
    added = {"name": "added", "ansible_connection": "local", **variables}
    hosts_made = [{"name": f"Add {host['name']}", "ansible.builtin.add_host": host} for host in (lane, added)]
    defaults = {"group/kubernetes.core.k8s": "{{ lookup('psap.perf.cluster_access') }}"}
    plays = [
        {"name": "Make", "hosts": "sutest", "gather_facts": False, "tasks": hosts_made},
        {"name": "Ask", "hosts": "all", "gather_facts": False, "module_defaults": defaults, "tasks": _TASKS},
    ]
    (folder / "ask.yml").write_text(yaml.safe_dump(plays, sort_keys=False))
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("K8S_AUTH_", "KUBE"))}
    done = subprocess.run(
        [
            str(Path(sys.executable).parent / "ansible-playbook"),
            "-i",
            str(folder / "hosts.yml"),
            str(folder / "ask.yml"),
        ],
        env={**kept, "PERF_RUNS_DIR": str(folder / "runs"), "HOME": str(folder), **environment},
        capture_output=True,
        text=True,
        cwd=PROJECT,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return {path.name: json.loads(path.read_text()) for path in (folder / "answers").iterdir()}


def _pretended_pod(folder: Path) -> dict[str, str]:
    """Return a pod's environment and service account; no server listens at its API server's address."""
    (folder / "token").write_text("none")
    (folder / "ca.crt").write_text("none")
    (folder / "site").mkdir()
    (folder / "site" / "sitecustomize.py").write_text(
        "import kubernetes.config.incluster_config as pod\n"
        f"pod.SERVICE_TOKEN_FILENAME = {str(folder / 'token')!r}\n"
        f"pod.SERVICE_CERT_FILENAME = {str(folder / 'ca.crt')!r}\n"
    )
    address = {"KUBERNETES_SERVICE_HOST": "127.0.0.1", "KUBERNETES_SERVICE_PORT": "1"}
    return {**address, "PYTHONPATH": str(folder / "site")}


@pytest.mark.parametrize(
    ("named_by", "in_pod"),
    [
        ("perf_kubeconfig", False),
        pytest.param("K8S_AUTH_KUBECONFIG", False, marks=pytest.mark.deep),
        pytest.param("KUBECONFIG", False, marks=pytest.mark.deep),
        ("KUBECONFIG", True),
    ],
)
def test_verb_and_module_reach_the_same_cluster(
    named_by: str, in_pod: bool, kubeconfigs: dict[str, Path], tmp_path: Path
) -> None:
    one, other = str(kubeconfigs["one"]), str(kubeconfigs["other"])
    # the variable of higher precedence names the first cluster, the others the second
    variables = {"perf_kubeconfig": one if named_by == "perf_kubeconfig" else ""}
    environment = {"KUBECONFIG": one if named_by == "KUBECONFIG" else other}
    if named_by != "KUBECONFIG":
        environment["K8S_AUTH_KUBECONFIG"] = one if named_by == "K8S_AUTH_KUBECONFIG" else other
    pod = _pretended_pod(tmp_path) if in_pod else {}
    answers = _answers(tmp_path, variables, {**environment, **pod})
    assert answers == {host: ["one", "one"] for host in ("sutest", "lane", "added", "localhost")}
