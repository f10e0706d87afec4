"""Inventories of Ansible with the hosts of a booking: a plain one, and one for jetlag, which installs OpenShift."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.documents import yaml_text
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.quads.objects import Assignment, Host
from ansible_collections.psap.perf.plugins.module_utils.quads.reservation import Reservation

# files contain no password: the inventory reads it from the environment
_PASSWORD = "{{ lookup('ansible.builtin.env', 'BMC_PASSWORD') }}"  # noqa: S105 - the place of one
# in jetlag's network, after the addresses of the bastion and the virtual ones
_FIRST_ADDRESS = 5
_VENDORS = {"r": "Dell", "fc": "Dell", "xe": "Dell"}


@dataclass(frozen=True, slots=True)
class Machine:
    """A host with the addresses that an installer needs.

    Args:
        macs: MAC addresses of its interfaces, in the lab's order.
        lab_mac: MAC address of the interface that boots from the lab's network.
    """

    host: Host
    bmc: str
    macs: tuple[str, ...]
    lab_mac: str

    @property
    def short(self) -> str:
        """Return the name without its domain."""
        return self.host.name.partition(".")[0]

    @property
    def vendor(self) -> str:
        """Return the vendor of the model, by its name in jetlag."""
        letters = re.match(r"[a-z]*", self.host.model.lower())
        return _VENDORS.get(letters[0] if letters else "", "Supermicro")


@dataclass(frozen=True, slots=True)
class Network:
    """The cluster's network: jetlag assigns addresses of *network* to the nodes; *interface* counts from 0."""

    network: str = "198.18.0.0/16"
    interface: int = 1
    interface_name: str = ""
    lab_interface: str = ""
    install_disk: str = "/dev/sda"


def machines(hosts: Iterable[Host], nodes: Iterable[Mapping[str, Any]] = ()) -> list[Machine]:
    """Return the hosts with their addresses; those in *nodes*, of the lab's ``ocpinv.json``, take precedence."""
    known = {_name(each): each for each in nodes}
    found = []
    for host in sorted(hosts, key=lambda each: each.name):
        macs = tuple(each.mac for each in host.interfaces if each.mac)
        boot = next((each.mac for each in host.interfaces if each.pxe_boot and each.mac), macs[0] if macs else "")
        machine = Machine(host, host.bmc, macs, boot)
        node = known.get(host.name)
        if node:
            macs = tuple(str(mac) for mac in node.get("mac") or machine.macs)
            machine = replace(machine, bmc=str(node.get("pm_addr") or machine.bmc), macs=macs)
        found.append(machine)
    return found


@dataclass(frozen=True, slots=True)
class Part:
    """Machines of one cloud."""

    found: Sequence[Machine]
    assignment: Assignment
    reservation: Reservation | None


def plain(parts: Sequence[Part], user: str) -> str:
    """Return ``hosts.yml``: the group ``quads``, each host with its data; several clouds have a group each."""
    shared = {"ansible_user": "root", "bmc_user": user, "bmc_password": _PASSWORD}
    if len(parts) == 1:
        group = _of_cloud(parts[0])
        group["vars"] = {**shared, **group["vars"]}
    else:
        group = {"children": {each.assignment.cloud: _of_cloud(each) for each in parts}, "vars": shared}
    return yaml_text({"all": {"children": {"quads": group}}})


def _of_cloud(part: Part) -> dict[str, Any]:
    assignment, reservation = part.assignment, part.reservation
    hosts = {
        each.host.name: {
            "quads_model": each.host.model,
            "bmc_address": each.bmc,
            "mac_addresses": list(each.macs),
            "lab_mac": each.lab_mac,
            "interfaces": [
                {"name": nic.name, "mac": nic.mac, "vendor": nic.vendor, "gigabits": nic.gigabits}
                for nic in each.host.interfaces
            ],
            "disks": [{"type": disk.type, "size_gb": disk.size_gb, "count": disk.count} for disk in each.host.disks],
        }
        for each in part.found
    }
    own = {
        "quads_cloud": assignment.cloud,
        "quads_assignment": assignment.id,
        "quads_vlan": assignment.vlan,
        "quads_qinq": assignment.qinq,
        "quads_lease_end": f"{reservation.end:%Y-%m-%dT%H:%M:%SZ}" if reservation and reservation.exact else None,
    }
    return {"hosts": hosts, "vars": own}


def jetlag(found: Sequence[Machine], network: Network, controlplanes: int, user: str) -> str:
    """Return the inventory of jetlag: the first host is the bastion, then the control plane, then the workers.

    Raises:
        UsageError: If the hosts or their interfaces do not suffice.
    """
    if len(found) < 1 + controlplanes:
        raise UsageError(
            f"jetlag needs a bastion and {controlplanes} hosts for the control plane, but {len(found)} hosts are booked"
        )
    without = [each.host.name for each in found[1:] if len(each.macs) <= network.interface]
    if without:
        raise UsageError(
            f"{', '.join(without)}: QUADS has no interface number {network.interface}, counted from 0; "
            "choose another one, or read the lab's ocpinv.json"
        )
    booting = [each.host.name for each in found[1:] if each.macs[network.interface] == each.lab_mac]
    if booting:
        raise UsageError(
            f"{', '.join(booting)}: interface number {network.interface}, counted from 0, boots from the lab's "
            "network; choose another interface for the cluster"
        )
    bastion, *others = found
    nodes = dict(zip([each.short for each in others], _addresses(network.network, len(others)), strict=True))
    lines = ["[all:vars]", f"allocation_node_count={len(found)}"]
    supermicro = any(each.vendor == "Supermicro" for each in found)
    lines += [f"supermicro_nodes={supermicro}", f"controlplane_network={network.network}"]
    lines += ["", "[bastion]", f"{bastion.host.name} ansible_ssh_user=root bmc_address={bastion.bmc}"]
    lines += ["", "[bastion:vars]", f"bmc_user={user}", f"bmc_password={_PASSWORD}"]
    for group, role, members in (
        ("controlplane", "master", others[:controlplanes]),
        ("worker", "worker", others[controlplanes:]),
    ):
        lines += ["", f"[{group}]", *(_node(each, network, nodes[each.short]) for each in members)]
        lines += ["", f"[{group}:vars]", *_group(role, network, user)]
    return "\n".join([*lines, "", "[sno]", "", "[sno:vars]", "", "[hv]", "", "[hv_vm]", ""])


def nodes_of(document: Any) -> list[Mapping[str, Any]]:
    """Return the nodes of an ``ocpinv.json``, without their passwords; empty for another document."""
    nodes = document.get("nodes") if isinstance(document, Mapping) else None
    keys = ("name", "pm_addr", "mac", "pm_type")
    return [{key: each[key] for key in keys if key in each} for each in nodes or () if isinstance(each, Mapping)]


def unknown(found: Iterable[Machine], nodes: Iterable[Mapping[str, Any]], address: str) -> str:
    """Return a warning about machines that are missing in the ``ocpinv.json`` at *address*; empty if none is."""
    known = {_name(each) for each in nodes}
    missing = [each.host.name for each in found if each.host.name not in known]
    if not missing:
        return ""
    return f"{address} does not contain {', '.join(missing)}: using the BMC mgmt-HOST, and the MAC addresses of QUADS"


def _name(node: Mapping[str, Any]) -> str:
    return str(node.get("name") or str(node.get("pm_addr", "")).removeprefix("mgmt-"))


def _node(each: Machine, network: Network, address: str) -> str:
    return (
        f"{each.short} bmc_address={each.bmc} mac_address={each.macs[network.interface]} lab_mac={each.lab_mac} "
        f"ip={address} vendor={each.vendor} install_disk={network.install_disk}"
    )


def _group(role: str, network: Network, user: str) -> Iterator[str]:
    space = ipaddress.ip_network(network.network)
    yield from (f"role={role}", "boot_iso=discovery.iso", f"bmc_user={user}", f"bmc_password={_PASSWORD}")
    yield from (f"lab_interface={network.lab_interface}", f"network_interface={network.interface_name}")
    yield from (f"network_prefix={space.prefixlen}", f"gateway={space[1]}", f"dns1={space[1]}")


def _addresses(text: str, count: int) -> list[str]:
    try:
        space = ipaddress.ip_network(text)
    except ValueError as error:
        raise UsageError(f"invalid network {text!r}: write it like 198.18.0.0/16") from error
    if space.num_addresses < count + _FIRST_ADDRESS + 1:
        raise UsageError(f"the network {text} is too small for {count} hosts")
    return [str(space[_FIRST_ADDRESS + number]) for number in range(count)]
