"""The kind of the flow crc_timing: what systemd prints, and the KPIs of a boot, computed by hand."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from perfanalysis.workloads.boot_timing import systemd
from perfanalysis.workloads.run_analysis import RunAnalysis, analyse_run

from tests.data.boot_timings import boot_timing
from tests.schemas import check


def analysed(folder: Path, document: Mapping[str, str]) -> RunAnalysis:
    check(document)
    artifacts = folder / "001__cell__0/001__crc__capture_boot_timing/artifacts"
    artifacts.mkdir(parents=True)
    (artifacts / "boot_timing.yml").write_text(json.dumps(document))
    return analyse_run(folder, folder / "out")


def test_the_kpis_of_a_boot(tmp_path: Path) -> None:
    (analysis,) = analysed(tmp_path, boot_timing()).analyses
    assert {value.name: value.number for value in analysis.kpis} == {
        "boot_total": 106.0,
        "boot_kernel": 1.02,
        "boot_initrd": 4.5,
        "boot_userspace": pytest.approx(100.48),
        "target_reached": 100.25,
        "ssh_activated": 19.5,
        "slowest_unit": 62.5,
        "failed_units": 1,
    }
    assert dict(analysis.facts) == {"target": "crc-custom.target"}


def test_a_chain_is_in_the_order_in_which_units_waited() -> None:
    links = list(systemd.chain(boot_timing()["critical_chain"]))
    assert [link.depth for link in links] == [0, 1, 2, 3, 4, 5, 6]
    assert links[0] == systemd.Link(0, "crc-custom.target", 100.25, None)
    assert links[5] == systemd.Link(5, "NetworkManager-wait-online.service", 13.5, 0.75)


def test_units_that_were_active_at_once_are_of_one_depth() -> None:
    text = "a.target @2s\n├─b.service @1s +1s\n│ └─c.service @10ms +990ms\n└─d.service @1s +500ms\n"
    assert [(link.unit, link.depth) for link in systemd.chain(text)] == [
        ("a.target", 0),
        ("b.service", 1),
        ("c.service", 2),
        ("d.service", 1),
    ]


@pytest.mark.parametrize("last", ["└─", "`-"])
def test_the_root_is_a_unit_whose_name_begins_as_the_tree_does(last: str) -> None:
    links = list(systemd.chain(f"a.target @2s\n{last}-.mount @1s\n  {last}-.slice\n"))
    assert links[1:] == [systemd.Link(1, "-.mount", 1.0, None), systemd.Link(2, "-.slice", None, None)]


def test_a_unit_that_was_never_activated_has_no_time() -> None:
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
    assert systemd.duration("1h 2min 3.500s") == 3723.5
    assert dict(systemd.blamed(boot_timing()["blame"]))["dev-hugepages.mount"] == pytest.approx(250e-6)
    with pytest.raises(ValueError, match="'soon' is no duration of systemd"):
        systemd.duration("soon")


def test_a_boot_without_initrd_has_no_time_of_it() -> None:
    said = "Startup finished in 3.415s (kernel) + 6.712s (userspace) = 10.127s"
    assert systemd.phases(said) == {"kernel": 3.415, "userspace": 6.712, "total": 10.127}


def test_a_text_without_times_is_an_error_and_no_number(tmp_path: Path) -> None:
    run = analysed(tmp_path, boot_timing() | {"time": "Bootup is not yet finished"})
    (analysis,) = run.analyses
    (value,) = (value for value in analysis.kpis if value.name == "boot_total")
    assert value.number is None
    assert any("time has no times: 'Bootup is not yet finished'" in finding.text for finding in run.findings)
