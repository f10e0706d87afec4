"""The signals that a run handles."""

from __future__ import annotations

import os
import signal

import pytest
from perfdrv.execution.interrupts import Interrupts


@pytest.mark.parametrize(("before", "heard"), [(signal.SIG_DFL, 1), (signal.SIG_IGN, 0)])
def test_terminal_hangup_stops_a_run_except_under_nohup(before: signal.Handlers, heard: int) -> None:
    former = signal.signal(signal.SIGHUP, before)
    try:
        with Interrupts() as interrupts:
            os.kill(os.getpid(), signal.SIGHUP)
        assert interrupts.count == heard
        assert signal.getsignal(signal.SIGHUP) is before
    finally:
        signal.signal(signal.SIGHUP, former)
