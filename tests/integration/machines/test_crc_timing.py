"""The flow crc_timing as its user runs it, over a real sshd; systemd's programs there are stand-ins."""

from __future__ import annotations

import json
from pathlib import Path

from tests.integration.machines.conftest import Machine
from tests.schemas import check_file


def test_a_boot_is_captured_and_one_that_does_not_end_is_named(machine: Machine, tmp_path: Path) -> None:
    words = ("-s", f"crc_timing_work_directory={machine.folder}/work", "-s", "crc_timing_timeout=1s")
    targets = ("-s", "crc_timing_target=[crc-custom.target, nobodys.target]")
    code, said = machine.run(tmp_path, "run", "crc_timing", "-i", f"{machine.folder}/hosts.yml", *words, *targets)
    assert code == 3, said
    (run,) = tmp_path.iterdir()
    assert "systemctl is-active nobodys.target ended with 3: inactive" in (run / "run.json").read_text()
    (captured,) = run.rglob("boot_timing.yml")
    assert check_file(captured) == "psap.perf/boot_timing/1"
    kpis = json.loads((run / "report/kpis.json").read_text())["kpis"]
    values = {one["name"]: one["value"] for one in kpis if one["labels"].get("target") == "crc-custom.target"}
    assert (values["boot_total"], values["target_reached"], values["ssh_activated"]) == (106.0, 100.25, 19.5)
    assert machine.left() == []
