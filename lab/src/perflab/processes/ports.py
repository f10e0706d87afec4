"""Free ports on the loopback interface."""

from __future__ import annotations

import errno
import random
import socket
from collections.abc import Sequence
from pathlib import Path

LOOPBACK = "127.0.0.1"

_LISTENING = "0A"
# above the ports of well-known services
_PORTS = range(15000, 65536)
_OUTGOING = Path("/proc/sys/net/ipv4/ip_local_port_range")
# the system chooses
_ANY = 0


def free_ports(names: Sequence[str]) -> dict[str, int]:
    """Choose one free port per name, all different.

    It avoids ports that the system gives to outgoing connections if possible: while a killed program is away, one of
    its clients could get its port (and even talk to itself), and the program could not restart. Another program may
    take a port before its component listens: the component then ends with "address already in use", and `up` tries
    again with other ports.
    """
    sockets: list[socket.socket] = []
    candidates = iter(_candidates())
    try:
        while len(sockets) < len(names):
            opened = socket.socket()
            sockets.append(opened)
            try:
                opened.bind((LOOPBACK, next(candidates, _ANY)))
            except OSError as error:
                sockets.pop().close()
                if error.errno != errno.EADDRINUSE:
                    raise
        return {name: opened.getsockname()[1] for name, opened in zip(names, sockets, strict=True)}
    finally:
        for opened in sockets:
            opened.close()


def _candidates() -> list[int]:
    first, last = map(int, _OUTGOING.read_text().split())
    outside = [port for port in _PORTS if not first <= port <= last]
    return random.sample(outside, len(outside))


def listening_addresses(pid: int) -> list[str]:
    """Return the TCP addresses that a process listens on, such as `127.0.0.1:6443` and `[::]:80`."""
    inodes = _socket_inodes(pid)
    tables = (Path(f"/proc/{pid}/net/tcp"), Path(f"/proc/{pid}/net/tcp6"))
    found = []
    for table in tables:
        # a kernel without IPv6 has no second table
        lines = table.read_text().splitlines()[1:] if table.exists() else []
        for fields in map(str.split, lines):
            if fields[3] == _LISTENING and fields[9] in inodes:
                found.append(_address(fields[1]))
    return found


def is_listening(pid: int, port: int) -> bool:
    """Return whether the process itself listens on this loopback port; False if it has ended."""
    try:
        return f"{LOOPBACK}:{port}" in listening_addresses(pid)
    except (FileNotFoundError, PermissionError, ProcessLookupError):
        return False


def _socket_inodes(pid: int) -> set[str]:
    inodes = set()
    for entry in Path(f"/proc/{pid}/fd").iterdir():
        try:
            target = entry.readlink().name
        except FileNotFoundError:
            continue  # closed meanwhile
        if target.startswith("socket:["):
            inodes.add(target.removeprefix("socket:[").removesuffix("]"))
    return inodes


def _address(text: str) -> str:
    host, port = text.split(":")
    # the kernel prints 32-bit words in the machine's byte order
    words = [bytes.fromhex(host[start : start + 8])[::-1] for start in range(0, len(host), 8)]
    packed = b"".join(words)
    if len(words) == 1:
        return f"{socket.inet_ntop(socket.AF_INET, packed)}:{int(port, 16)}"
    return f"[{socket.inet_ntop(socket.AF_INET6, packed)}]:{int(port, 16)}"
