"""The addresses of a lab's real node, its pods and its Services, which no other lab of the machine uses."""

from __future__ import annotations

import ipaddress
import struct
from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import IPv4Network
from pathlib import Path

from perflab.processes.state import Lab
from perflab.profiles import WORKER

# RFC 2544 reserves it for tests of networks: neither the internet nor a site uses it
ALL = IPv4Network("198.18.0.0/15")
_LABS = list(ALL.subnets(new_prefix=21))
# the ranges of labs without a real node may be the same: no packet has such an address
SIMULATED_SERVICES = IPv4Network("10.96.0.0/16")
API_SERVICE = str(SIMULATED_SERVICES[1])
_ROUTES = Path("/proc/net/route")


@dataclass(frozen=True, slots=True)
class Network:
    """The range of one lab, 2,048 addresses: half for Services, a quarter for pods, two for the cable to the node."""

    block: IPv4Network

    @property
    def services(self) -> IPv4Network:
        """Return the range of the Services' addresses."""
        return next(self.block.subnets(new_prefix=22))

    @property
    def api_service(self) -> str:
        """Return the address of the Service `default/kubernetes`."""
        return str(self.services[1])

    @property
    def pods(self) -> IPv4Network:
        """Return the range of the pods' addresses."""
        return list(self.block.subnets(new_prefix=23))[2]

    @property
    def cable(self) -> IPv4Network:
        """Return the range of the two ends of the cable between this machine and the node."""
        return next(list(self.block.subnets(new_prefix=23))[3].subnets(new_prefix=30))

    @property
    def host(self) -> str:
        """Return this machine's end of the cable."""
        return str(self.cable[1])

    @property
    def node(self) -> str:
        """Return the node's address, its end of the cable."""
        return str(self.cable[2])


def for_port(port: int) -> Network:
    """Return the network of the lab whose worker has this loopback port."""
    return Network(_LABS[port % len(_LABS)])


def of(lab: Lab) -> Network | None:
    """Return the network of the lab; None if it has no real node."""
    return for_port(lab.ports[WORKER]) if WORKER in lab.options.products else None


def services(lab: Lab) -> IPv4Network:
    """Return the range of the Services' addresses of any lab."""
    addresses = of(lab)
    return addresses.services if addresses else SIMULATED_SERVICES


def is_free(network: Network, routes: Iterable[IPv4Network]) -> bool:
    """Return whether none of the routes, except a default route, leads into the network."""
    return not any(route.prefixlen > 0 and route.overlaps(network.block) for route in routes)


def present_routes(text: str | None = None) -> list[IPv4Network]:
    """Return the destinations of this machine's routes; *text* has the format of `/proc/net/route`."""
    lines = (_ROUTES.read_text() if text is None else text).splitlines()[1:]
    return [_destination(fields[1], fields[7]) for fields in map(str.split, lines)]


def _destination(address: str, mask: str) -> IPv4Network:
    return IPv4Network((_number(address), str(ipaddress.IPv4Address(_number(mask)))))


def _number(text: str) -> int:
    # the kernel prints a word of the network's byte order in the machine's
    return int(struct.unpack("!I", struct.pack("=I", int(text, 16)))[0])
