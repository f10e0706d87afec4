"""When a machine first answers: the attempts, what their times are good for, and the program that starts it."""

from __future__ import annotations

import socket
import time
from pathlib import Path

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import HostError
from ansible_collections.psap.perf.plugins.module_utils.hosts.booting import Started, first_answer, listens


def test_the_resolution_is_the_time_since_the_last_attempt_without_an_answer() -> None:
    begun = time.monotonic()
    failed: list[float] = []

    def third() -> bool:
        failed.append(time.monotonic())
        return len(failed) == 3

    answer = first_answer(third, begun, lambda: True)
    assert answer is not None
    # right before the second attempt is when the last one without an answer was begun
    assert failed[0] < begun + answer.after_s - answer.within_s <= failed[1]


def test_an_answer_at_once_may_have_come_since_the_start() -> None:
    answer = first_answer(lambda: True, time.monotonic() - 5.0, lambda: True)
    assert answer is not None
    assert answer.after_s == answer.within_s > 5.0


def test_nobody_tries_any_more_who_does_not_want_to_know() -> None:
    wanted = iter((True, True, False))
    assert first_answer(lambda: False, time.monotonic(), lambda: next(wanted)) is None


def test_a_port_listens_or_does_not() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert listens("127.0.0.1", port)
    assert not listens("127.0.0.1", port)


def test_a_program_that_does_not_start_the_machine_is_told_in_its_words(tmp_path: Path) -> None:
    log = tmp_path / "artifacts/start.log"
    started = Started(["sh", "-c", "echo domain crc is not defined >&2; exit 3"], log)
    with pytest.raises(HostError, match="ended with 3: domain crc is not defined"):
        while True:
            started.check()
    with pytest.raises(HostError, match="cannot start /nobodys/virsh: No such file"):
        Started(["/nobodys/virsh"], log)
