"""Free ports on the loopback interface."""

from __future__ import annotations

import socket
from collections.abc import Sequence

LOOPBACK = "127.0.0.1"


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
