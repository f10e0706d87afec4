"""The flow crc_timing as its user runs it, over a real sshd; systemd's programs are stand-ins, and nothing boots."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import yaml

from tests.integration.machines.conftest import Machine
from tests.schemas import check_file

STARTS_S = 1.5


def test_machine_is_started_and_its_boot_is_captured_and_timed(machine: Machine, tmp_path: Path) -> None:
    control = (sys.executable, "-m", "tests.standins.hosts.machine")
    late = ["sh", "-c", f'sleep {STARTS_S}; exec "$@"', "sh", *control, "start_sshd", str(machine.folder)]
    before = machine.leftovers()
    settings = {
        "work_directory": f"{machine.folder}/work",
        "timeout": "1m",
        "journals": "[crc-*, ocp-*]",
        "kubeconfig": "/opt/kubeconfig",
        "start": json.dumps(late),
        "stop": json.dumps([*control, "stop_sshd", str(machine.folder)]),
    }
    words = [word for name, value in settings.items() for word in ("-s", f"crc_timing_{name}={value}")]
    code, output = machine.run(tmp_path, "run", "crc_timing", "-i", f"{machine.folder}/hosts.yml", *words)
    assert code == 0, output
    (run,) = tmp_path.iterdir()
    (captured,) = run.rglob("boot_timing.yml")
    assert check_file(captured) == "psap.perf/boot_timing/1"
    document = yaml.safe_load(captured.read_text())
    assert "Started ocp-*." in document["journals"]["ocp-*"]
    values = {one["name"]: one["value"] for one in json.loads((run / "report/kpis.json").read_text())["kpis"]}
    assert (values["boot_total"], values["target_reached"], values["ssh_activated"]) == (106.0, 100.25, 19.5)
    assert (values["operators_available"], values["operators_settled"]) == (98, 101)
    assert "ClusterOperators over time" in (run / "report/index.html").read_text()
    assert document["outside"]["ssh"]["after_s"] > STARTS_S
    # its kernel is this machine's, which the test has not booted
    assert document["outside"]["kernel"] < document["outside"]["started"]
    assert "the program did not boot it" in (run / "report/index.html").read_text()
    assert values.get("ssh_answered") is None
    assert machine.leftovers() == before
