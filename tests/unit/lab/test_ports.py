"""Ports are free, different, and known to be a process's own."""

from __future__ import annotations

import os
import socket

from perflab.ports import free_ports, is_listening, listening_addresses


def test_ports_are_different_and_can_be_bound() -> None:
    ports = free_ports([f"p{number}" for number in range(50)])
    assert len(set(ports.values())) == 50
    for port in ports.values():
        with socket.socket() as opened:
            opened.bind(("127.0.0.1", port))


def test_a_listening_socket_of_this_process_is_seen() -> None:
    with socket.socket() as opened:
        opened.bind(("127.0.0.1", 0))
        port = opened.getsockname()[1]
        assert not is_listening(os.getpid(), port)
        opened.listen()
        assert is_listening(os.getpid(), port)
        assert not is_listening(os.getppid(), port)


def test_other_addresses_than_loopback_are_named() -> None:
    with socket.socket() as opened:
        opened.bind(("0.0.0.0", 0))
        opened.listen()
        assert f"0.0.0.0:{opened.getsockname()[1]}" in listening_addresses(os.getpid())


def test_a_dead_process_listens_on_nothing() -> None:
    assert not is_listening(2**22 + 1, 80)
