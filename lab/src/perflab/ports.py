"""Free ports on the loopback interface."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from pathlib import Path

LOOPBACK = "127.0.0.1"

_LISTENING = "0A"


def free_ports(names: Sequence[str]) -> dict[str, int]:
    """Choose one free port per name, all different.

    Another program may take one before its component listens: the component then ends with
    "address already in use", and `up` tries again with other ports.
    """
    sockets = [socket.socket() for _ in names]
    try:
        for opened in sockets:
            opened.bind((LOOPBACK, 0))
        return {name: opened.getsockname()[1] for name, opened in zip(names, sockets, strict=True)}
    finally:
        for opened in sockets:
            opened.close()


def listening_addresses(pid: int) -> list[str]:
    """The TCP addresses that a process listens on, such as `127.0.0.1:6443` and `[::]:80`."""
    inodes = _socket_inodes(pid)
    tables = (Path(f"/proc/{pid}/net/tcp"), Path(f"/proc/{pid}/net/tcp6"))
    found = []
    for table in tables:
        # the kernel has no second table when it is built without IPv6
        lines = table.read_text().splitlines()[1:] if table.exists() else []
        for fields in map(str.split, lines):
            if fields[3] == _LISTENING and fields[9] in inodes:
                found.append(_address(fields[1]))
    return found


def is_listening(pid: int, port: int) -> bool:
    """True when the process itself listens on this loopback port; False when it has ended."""
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
