"""Detect that the controller no longer waits for a module on a host."""

from __future__ import annotations

import os
import signal
from typing import NoReturn

from ansible_collections.psap.perf.plugins.module_utils.hosts.programs import Stopped


def listened() -> bool:
    """Return whether the connection is still open, by writing an empty line, which Ansible ignores."""
    try:
        os.write(1, b"\n")
    except OSError:
        return False
    return True


def stop_when_asked() -> None:
    """Raise :class:`Stopped` on a signal to end, so that the module undoes its work."""
    signal.signal(signal.SIGTERM, _stop)
    signal.signal(signal.SIGHUP, _stop)


def _stop(_signal: int, _frame: object) -> NoReturn:
    raise Stopped("received a signal to end")
