"""The first answer of a machine: the attempts, the resolution of their times, and the start program."""

from __future__ import annotations

import socket
import time
from pathlib import Path

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import HostError
from ansible_collections.psap.perf.plugins.module_utils.hosts.booting import StartProgram, first_answer, listens


def test_resolution_is_the_time_since_the_last_failed_attempt() -> None:
    begun = time.monotonic()
    failed: list[float] = []

    def third() -> bool:
        failed.append(time.monotonic())
        return len(failed) == 3

    answer = first_answer(third, begun, lambda: True)
    assert answer is not None
    # The last attempt without an answer began just before the second one.
    assert failed[0] < begun + answer.after_s - answer.within_s <= failed[1]


def test_immediate_response_may_date_from_the_start() -> None:
    answer = first_answer(lambda: True, time.monotonic() - 5.0, lambda: True)
    assert answer is not None
    assert answer.after_s == answer.within_s > 5.0


def test_attempts_end_when_no_answer_is_wanted() -> None:
    wanted = iter((True, True, False))
    assert first_answer(lambda: False, time.monotonic(), lambda: next(wanted)) is None


def test_port_listens_or_not() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert listens("127.0.0.1", port)
    assert not listens("127.0.0.1", port)


def test_failing_start_program_is_reported_with_its_output(tmp_path: Path) -> None:
    log = tmp_path / "artifacts/start.log"
    started = StartProgram(["sh", "-c", "echo domain crc is not defined >&2; exit 3"], log)
    with pytest.raises(HostError, match="ended with 3: domain crc is not defined"):
        while True:
            started.check()
    with pytest.raises(HostError, match="cannot start /nobodys/virsh: No such file"):
        StartProgram(["/nobodys/virsh"], log)
