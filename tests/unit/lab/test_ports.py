"""Ports are free and distinct, and a process's own ones are found."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest
from perflab.processes import ports as lab_ports
from perflab.processes.ports import free_ports, is_listening, listening_addresses


def test_ports_are_distinct_and_can_be_bound() -> None:
    ports = free_ports([f"p{number}" for number in range(50)])
    assert len(set(ports.values())) == 50
    for port in ports.values():
        with socket.socket() as opened:
            opened.bind(("127.0.0.1", port))


def test_listening_socket_of_this_process_is_found() -> None:
    with socket.socket() as opened:
        opened.bind(("127.0.0.1", 0))
        port = opened.getsockname()[1]
        assert not is_listening(os.getpid(), port)
        opened.listen()
        assert is_listening(os.getpid(), port)
        assert not is_listening(os.getppid(), port)


def test_non_loopback_addresses_are_named() -> None:
    with socket.socket() as opened:
        opened.bind(("0.0.0.0", 0))
        opened.listen()
        assert f"0.0.0.0:{opened.getsockname()[1]}" in listening_addresses(os.getpid())


def test_dead_process_has_no_listening_sockets() -> None:
    assert not is_listening(2**22 + 1, 80)


def test_outgoing_connections_do_not_use_a_chosen_port() -> None:
    first, last = map(int, Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split())
    chosen = free_ports([f"program-{number}" for number in range(20)]).values()
    assert len(set(chosen)) == 20
    assert not [port for port in chosen if first <= port <= last]


def test_port_in_use_is_not_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as taken:
        taken.bind((lab_ports.LOOPBACK, 0))
        taken.listen()
        monkeypatch.setattr(lab_ports, "_candidates", lambda: [taken.getsockname()[1]])
        assert free_ports(["one"])["one"] != taken.getsockname()[1]
