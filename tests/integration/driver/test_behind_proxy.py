"""A cluster that is only reachable through a proxy: a complete run with its submitter, and a kubernetes.core module."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import yaml

from tests.integration.conftest import Lab
from tests.standins.connect_proxy import ConnectProxy, connect_proxy

# no name server resolves it: only the proxy does
NAME = "api.cluster.test"
PLAYBOOK = """
- hosts: localhost
  gather_facts: false
  connection: local
  vars: {ansible_python_interpreter: "{{ ansible_playbook_python }}"}
  module_defaults:
    group/kubernetes.core.k8s: "{{ lookup('psap.perf.cluster_access') }}"
  tasks:
    - name: Get a namespace
      kubernetes.core.k8s_info:
        kind: Namespace
        name: kube-system
      register: found
    - name: Check that it is there
      ansible.builtin.assert:
        that: found.resources | length == 1
"""


def kubeconfig_behind(lab: Lab, proxy: str, path: Path) -> Path:
    """Write the lab's kubeconfig with the name that *proxy* resolves in place of the lab's address."""
    document = yaml.safe_load(lab.kubeconfig.read_text(encoding="utf-8"))
    changes = {"server": f"https://{NAME}:6443", "tls-server-name": "localhost", "proxy-url": proxy}
    document["clusters"][0]["cluster"].update(changes)
    path.write_text(yaml.safe_dump(document), encoding="utf-8")
    return path


@pytest.fixture(name="proxy")
def _proxy(shared_lab: Lab) -> Iterator[ConnectProxy]:
    """Start a proxy to the lab; at the end, check that it refused no request and connected only to the lab."""
    cluster = yaml.safe_load(shared_lab.kubeconfig.read_text(encoding="utf-8"))["clusters"][0]["cluster"]
    server = urlsplit(cluster["server"])
    assert server.hostname and server.port
    with connect_proxy({NAME: (server.hostname, server.port)}) as proxy:
        yield proxy
    assert set(proxy.targets) == {f"{NAME}:6443"} and proxy.refused == 0


@pytest.mark.deep
def test_run_reaches_a_cluster_behind_a_proxy(shared_lab: Lab, proxy: ConnectProxy, tmp_path: Path) -> None:
    cluster = f"perf_kubeconfig={kubeconfig_behind(shared_lab, proxy.url, tmp_path / 'kubeconfig')}"
    flow = ("run", "scale_test", "-i", "lab", "-p", "scale_test_smoke", "-s", "scale_test_submitters=2", "-e", cluster)
    run = shared_lab.run(tmp_path / "runs", "perfdrv", *flow)
    assert run.returncode == 0, run.stdout + run.stderr
    assert "0 lost" in run.stdout


def test_module_reaches_a_cluster_behind_a_proxy(shared_lab: Lab, proxy: ConnectProxy, tmp_path: Path) -> None:
    playbook = tmp_path / "modules.yml"
    playbook.write_text(PLAYBOOK, encoding="utf-8")
    cluster = f"perf_kubeconfig={kubeconfig_behind(shared_lab, proxy.url, tmp_path / 'kubeconfig')}"
    done = shared_lab.run(tmp_path / "runs", "ansible-playbook", str(playbook), "-i", "localhost,", "-e", cluster)
    assert done.returncode == 0, done.stdout + done.stderr
