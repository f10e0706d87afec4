"""Inventories: addresses, more precise data in the lab's file, and no passwords."""

from __future__ import annotations

import configparser
from pathlib import Path

import pytest
import yaml
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.quads.awaiting import read_delivery
from ansible_collections.psap.perf.plugins.module_utils.quads.inventory import (
    Network,
    Part,
    jetlag,
    machines,
    nodes_of,
    plain,
    unknown,
)
from ansible_collections.psap.perf.plugins.module_utils.quads.objects import Assignment, Host

from tests.unit.quads.sessions import Session

SECRET = "planted-bmc-w0rd"


def book(tmp_path: Path, count: int) -> tuple[Assignment, list[Host]]:
    result = Session(tmp_path).book(count)
    return result.assignment, [row.host for row in result.rows]


def sections(text: str) -> configparser.ConfigParser:
    parser = configparser.ConfigParser(allow_no_value=True, delimiters=("=",), interpolation=None)
    parser.read_string(text)
    return parser


def test_plain_inventory_has_the_data_of_quads(tmp_path: Path) -> None:
    assignment, hosts = book(tmp_path, 2)
    group = yaml.safe_load(plain([Part(machines(hosts), assignment, None)], "quads"))["all"]["children"]["quads"]
    first = group["hosts"]["f00-h01-r640.lab.example.com"]
    assert first["bmc_address"] == "mgmt-f00-h01-r640.lab.example.com"
    assert first["mac_addresses"] == ["00:00:5e:00:53:00", "00:00:5e:00:54:00"]
    assert first["lab_mac"] == "00:00:5e:00:53:00"
    assert (group["vars"]["quads_cloud"], group["vars"]["quads_lease_end"]) == (assignment.cloud, None)


def test_lab_file_provides_bmcs_and_macs_without_passwords(tmp_path: Path) -> None:
    assignment, hosts = book(tmp_path, 1)
    node = {"pm_addr": "mgmt-f00-h01-r640.lab.example.com", "mac": ["aa:bb", "cc:dd"], "pm_password": SECRET}
    nodes = nodes_of({"nodes": [node, "nonsense"]})
    text = plain([Part(machines(hosts, nodes), assignment, None)], "quads")
    assert "aa:bb" in text and SECRET not in text and SECRET not in str(nodes)
    assert nodes_of(["no", "document"]) == [] == nodes_of({})


def test_jetlag_gets_bastion_control_plane_and_workers(tmp_path: Path) -> None:
    _assignment, hosts = book(tmp_path, 6)
    text = jetlag(machines(hosts), Network("198.18.0.0/16", 1, "ens1f0", "eno1"), 3, "quads")
    parsed = sections(text)
    assert parsed["all:vars"]["allocation_node_count"] == "6"
    assert [len(parsed[name]) for name in ("bastion", "controlplane", "worker")] == [1, 3, 2]
    assert "f01-h01-r650 bmc_address=mgmt-f01-h01-r650.lab.example.com mac_address=00:00:5e:00:54:01" in text
    assert "ip=198.18.0.5 " in text and "ip=198.18.0.9 " in text
    assert parsed["worker:vars"]["network_interface"] == "ens1f0"
    assert parsed["worker:vars"]["gateway"] == "198.18.0.1"


@pytest.mark.parametrize(
    ("count", "network", "message"),
    [
        (3, Network(), "needs a bastion and 3 hosts for the control plane, but 3 hosts are booked"),
        (4, Network(interface=2), "QUADS has no interface number 2"),
        (4, Network("somewhere"), "invalid network"),
        (4, Network("198.51.100.0/30"), "is too small for 3 hosts"),
    ],
)
def test_inventory_unusable_for_jetlag_is_refused(tmp_path: Path, count: int, network: Network, message: str) -> None:
    _assignment, hosts = book(tmp_path, count)
    with pytest.raises(UsageError, match=message):
        jetlag(machines(hosts), network, 3, "quads")


def test_interface_of_the_lab_network_is_refused_for_the_cluster(tmp_path: Path) -> None:
    _assignment, hosts = book(tmp_path, 4)
    with pytest.raises(UsageError, match="interface number 0, counted from 0, boots from the lab's network"):
        jetlag(machines(hosts), Network(interface=0), 3, "quads")


def test_hosts_missing_from_the_lab_file_are_named(tmp_path: Path) -> None:
    _assignment, hosts = book(tmp_path, 2)
    first, second = machines(hosts)
    nodes = nodes_of({"nodes": [{"pm_addr": f"mgmt-{first.host.name}"}]})
    message = unknown([first, second], nodes, "https://lab/ocpinv.json")
    assert second.host.name in message
    assert first.host.name not in message
    assert not unknown([first], nodes, "https://lab/ocpinv.json")


def test_former_tenants_hosts_are_in_no_inventory(tmp_path: Path) -> None:
    session = Session(tmp_path)
    session.book(1)
    # They are reclaimed minutes after the cloud is free.
    session.lab.hosts["f05-h01-r750.lab.example.com"]["cloud"] = "cloud02"
    record = session.journal().record
    assert [host.name for host in read_delivery(session.client(), record, ()).hosts] == list(record.hosts)
