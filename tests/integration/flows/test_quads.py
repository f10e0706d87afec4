"""A scale test on booked hosts: a stand-in replaces QUADS, and the lab is the installed cluster."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.integration.conftest import Lab
from tests.standins.quads.faults import over_http
from tests.standins.quads.lab import Settings, example
from tests.standins.quads.server import StandIn

INSTALL = """
- name: Check that the hosts are known
  ansible.builtin.assert:
    that: __quads_write_inventory.files.hosts is file

- name: Install the cluster, which is the lab's
  ansible.builtin.copy:
    src: {kubeconfig}
    dest: {installed}
    mode: "0600"
"""


@pytest.mark.deep
def test_hosts_are_booked_delivered_measured_and_released(
    shared_lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = StandIn(example(lambda: datetime.now(UTC), Settings(move_s=1, validation_s=2, deadline=(0, 0))))
    monkeypatch.setenv("QUADS_PASSWORD", "planted-quads-w0rd")
    installed = tmp_path / "installed"
    (tmp_path / "install.yml").write_text(INSTALL.format(kubeconfig=shared_lab.kubeconfig, installed=installed))
    with over_http(server) as address:
        given = {
            "quads_url": address,
            "quads_user": "jane@example.com",
            "quads_password": "env:QUADS_PASSWORD",
            "quads_ticket": "PERF-1",
            "quads_interval": "500ms",
            "quads_install_tasks": tmp_path / "install.yml",
            "scale_test_count": "5",
            "scale_test_gpus": "0",
            "report_enabled": "false",
        }
        words = [word for name, value in given.items() for word in ("-s", f"{name}={value}")]
        words += ["-p", "quads", "-e", f"perf_kubeconfig={installed}"]
        ran = shared_lab.run(tmp_path / "runs", "perfdrv", "run", "scale_test", *words)

    assert ran.returncode == 0, ran.stdout + ran.stderr
    (run,) = (tmp_path / "runs").iterdir()
    assert "5 of 5 workloads submitted: 5 completed" in ran.stdout
    assert "booked      cloud02: 5 hosts until " in ran.stdout
    noted = json.loads((run / "run.json").read_text())["quads"]
    assert (noted["cloud"], len(noted["hosts"]), noted["lease_exact"]) == ("cloud02", 5, True)
    (assignment,) = server.lab.assignments
    assert assignment["provisioned"] and assignment["validated"] and not assignment["active"]
