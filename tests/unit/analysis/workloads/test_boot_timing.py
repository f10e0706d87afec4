"""The kind of the flow crc_timing: systemd's output, and the KPIs of a boot, computed by hand."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from perfanalysis.__main__ import run as perfanalysis
from perfanalysis.drawing.charts import Figure
from perfanalysis.units import read_duration
from perfanalysis.workloads.boot_timing import operators, systemd
from perfanalysis.workloads.run_analysis import RunAnalysis, analyse_run

from tests.data.boot_timings import BOOTED_S, boot_timing, openshift, outside
from tests.schemas import check


def analyse(folder: Path, document: Mapping[str, Any]) -> RunAnalysis:
    check(document)
    artifacts = folder / "001__cell__0/001__crc__capture_boot_timing/artifacts"
    artifacts.mkdir(parents=True)
    (artifacts / "boot_timing.yml").write_text(json.dumps(document))
    return analyse_run(folder, folder / "out")


def test_boot_kpis_match_hand_computation(tmp_path: Path) -> None:
    (analysis,) = analyse(tmp_path, boot_timing()).analyses
    assert {value.name: value.number for value in analysis.kpis} == {
        "boot_total": 106.0,
        "boot_kernel": 1.02,
        "boot_initrd": 4.5,
        "boot_userspace": pytest.approx(100.48),
        "target_reached": 100.25,
        "ssh_activated": 19.5,
        "slowest_unit": 62.5,
        "failed_units": 1,
        # This machine was already running.
        "ping_answered": None,
        "ssh_answered": None,
        "kernel_started": None,
        "machine_ready": None,
        # nor had it a kubeconfig
        "operators_available": None,
        "operators_settled": None,
    }
    assert dict(analysis.facts) == {"target": "crc-custom.target"}


def test_start_of_units_and_operators_is_drawn_over_time(tmp_path: Path) -> None:
    (analysis,) = analyse(tmp_path, {**boot_timing(), **openshift()}).analyses
    kpis = {value.name: value.number for value in analysis.kpis}
    # authentication; kube-apiserver, which was available before the boot
    assert (kpis["operators_available"], kpis["operators_settled"]) == (98, 101)
    (table,) = (tmp_path / "out").rglob("*starts.parquet")
    starts = pd.read_parquet(table)
    times = {
        unit: (begin - BOOTED_S, end - BOOTED_S)
        for unit, begin, end in zip(starts["unit"], starts["begin_s"], starts["end_s"], strict=True)
    }
    assert times["kubelet.service"] == pytest.approx((23.03, 43.28))
    # its program ended, and the unit was never active
    assert times["ocp-clusterid.service"] == pytest.approx((43.3, 52.1))
    # it failed before it began
    assert "ocp-mco.service" not in times
    titles = {block.title for section in analysis.sections for block in section.blocks if isinstance(block, Figure)}
    assert {"Start of OpenShift Local", "ClusterOperators over time"} <= titles


def test_states_of_an_operator_follow_from_its_last_transitions() -> None:
    text = "dns Available=True@2026-01-01T00:01:01Z Progressing=False@2026-01-01T00:01:04Z Degraded=False@soon\nempty\n"
    ((name, known),) = operators.conditions(text)
    assert (name, list(known)) == ("dns", ["Available", "Progressing"])
    booted = datetime(2026, 1, 1, tzinfo=UTC).timestamp()
    assert [
        (state, begin - booted, end - booted) for state, begin, end in operators.states(known, booted, booted + 90)
    ] == [("progressing", 61, 64), ("available", 64, 90)]
    # before the boot
    assert list(operators.states(known, booted + 100, booted + 190)) == []


def test_operator_that_is_not_available_has_this_state() -> None:
    text = "console Available=False@2026-01-01T00:01:00Z Degraded=True@2026-01-01T00:00:30Z"
    ((_name, known),) = operators.conditions(text)
    booted = datetime(2026, 1, 1, tzinfo=UTC).timestamp()
    assert [(state, end - begin) for state, begin, end in operators.states(known, booted, booted + 70)] == [
        ("degraded", 30),
        ("not available", 10),
    ]


def test_outside_measurements_count_from_the_machine_start(tmp_path: Path) -> None:
    (analysis,) = analyse(tmp_path, {**boot_timing(), "outside": outside()}).analyses
    kpis = {value.name: value.number for value in analysis.kpis}
    assert (kpis["ping_answered"], kpis["ssh_answered"], kpis["kernel_started"]) == (12.5, 21.25, 2.0)
    # 105.77 s after the start of the kernel
    assert kpis["machine_ready"] == pytest.approx(107.77)
    (table,) = (tmp_path / "out").rglob("*outside.parquet")
    assert dict(pd.read_parquet(table)[["event", "within_s"]].itertuples(index=False)) == {
        "ping": 1.125,
        "ssh": 0.25,
        "kernel": 0.5,
        "target": 0.5,
    }


def test_machine_already_running_has_no_outside_times(tmp_path: Path) -> None:
    seen = outside() | {"kernel": 1.7e9 - 1.0}
    run = analyse(tmp_path, {**boot_timing(), "outside": seen})
    (analysis,) = run.analyses
    assert {value.number for value in analysis.kpis if value.name in ("ssh_answered", "machine_ready")} == {None}
    assert any("the program did not boot it" in finding.text for finding in run.findings)


def test_slower_boot_is_compared_with_its_target_only(
    tmp_path: Path,
) -> None:
    history = tmp_path / "history"

    def kept(day: int, ssh_s: float, target: str = "crc-custom.target") -> None:
        folder = tmp_path / f"crc_timing-202601{day:02d}T000000Z-aaa{day:03d}"
        document = {**boot_timing(), "target": target, "outside": outside(ssh_s)}
        artifacts = folder / "001__crc__capture_boot_timing/artifacts"
        artifacts.mkdir(parents=True)
        (artifacts / "boot_timing.yml").write_text(json.dumps(document))
        moment = f"2026-01-{day:02d}T00:00:00.000Z"
        ended: dict[str, Any] = {
            "exit_code": 0,
            "reason": None,
            "status": "ok",
            "started": moment,
            "ended": moment,
            "attempts": [],
        }
        run = {"schema": "psap.perf/run/1", "id": folder.name, "parent": None, "flow": "crc_timing", **ended}
        (folder / "run.json").write_text(json.dumps(run))
        settings = {"crc_timing_target": {"value": target, "origin": "command line", "compare": "key"}}
        (folder / "settings.yml").write_text(
            json.dumps({"schema": "psap.perf/settings/1", "all": settings, "hosts": {}})
        )
        assert perfanalysis(["history", "add", str(folder), "--into", str(history)]) == 0

    for day in range(1, 12, 2):
        kept(day, 21.0 + day % 3 / 10)
    for day in range(2, 10, 2):
        kept(day, 27.0, "other.target")
    for day in (12, 13, 14):
        kept(day, 27.0)
    judged = ["--history", str(history), "--output", str(tmp_path / "out")]
    assert perfanalysis(["regress", "crc_timing-20260114", *judged]) == 4
    (recording,) = json.loads((tmp_path / "out/regression.json").read_text())["recordings"]
    # Without those of the other target
    assert recording["earlier_runs"] == 8
    verdicts = {each["name"]: each["verdict"] for each in recording["kpis"]}
    assert verdicts.pop("ssh_answered") == "worse"
    assert set(verdicts.values()) == {"same"}


def test_chain_follows_the_waiting_order_of_units() -> None:
    links = list(systemd.chain(boot_timing()["critical_chain"]))
    assert [link.depth for link in links] == [0, 1, 2, 3, 4, 5, 6]
    assert links[0] == systemd.Link(0, "crc-custom.target", 100.25, None)
    assert links[5] == systemd.Link(5, "NetworkManager-wait-online.service", 13.5, 0.75)


def test_units_active_concurrently_have_one_depth() -> None:
    text = "a.target @2s\n├─b.service @1s +1s\n│ └─c.service @10ms +990ms\n└─d.service @1s +500ms\n"
    assert [(link.unit, link.depth) for link in systemd.chain(text)] == [
        ("a.target", 0),
        ("b.service", 1),
        ("c.service", 2),
        ("d.service", 1),
    ]


@pytest.mark.parametrize("last", ["└─", "`-"])
def test_root_unit_has_the_prefix_of_the_tree(last: str) -> None:
    links = list(systemd.chain(f"a.target @2s\n{last}-.mount @1s\n  {last}-.slice\n"))
    assert links[1:] == [systemd.Link(1, "-.mount", 1.0, None), systemd.Link(2, "-.slice", None, None)]


def test_unit_never_activated_has_no_time() -> None:
    found = dict(systemd.activated(boot_timing()["checkpoints"] + "\nId=cut.service\nActiveEnter"))
    assert list(found) == [
        "NetworkManager.service",
        "sshd.service",
        "crio.service",
        "kubelet.service",
        "crc-custom.target",
    ]
    assert found["kubelet.service"] is None
    assert found["crc-custom.target"] == pytest.approx(105.77)


def test_durations_have_several_parts_and_units() -> None:
    assert read_duration("1h 2min 3.500s") == 3723.5
    assert dict(systemd.blamed(boot_timing()["blame"]))["dev-hugepages.mount"] == pytest.approx(250e-6)
    with pytest.raises(ValueError, match="'soon' is not a duration"):
        read_duration("soon")


def test_boot_without_initrd_has_no_initrd_time() -> None:
    line = "Startup finished in 3.415s (kernel) + 6.712s (userspace) = 10.127s"
    assert systemd.phases(line) == {"kernel": 3.415, "userspace": 6.712, "total": 10.127}


def test_text_without_times_is_an_error(tmp_path: Path) -> None:
    run = analyse(tmp_path, boot_timing() | {"time": "Bootup is not yet finished"})
    (analysis,) = run.analyses
    (value,) = (value for value in analysis.kpis if value.name == "boot_total")
    assert value.number is None
    assert any("time has no times: 'Bootup is not yet finished'" in finding.text for finding in run.findings)
