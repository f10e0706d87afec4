"""Whether somebody still waits for what a module does on a host."""

from __future__ import annotations

import os
import signal
from typing import NoReturn

from ansible_collections.psap.perf.plugins.module_utils.hosts.programs import Stopped


def listened() -> bool:
    """Whether the connection still takes what is written; Ansible skips empty lines before the answer."""
    try:
        os.write(1, b"\n")
    except OSError:
        return False
    return True


def stop_when_asked() -> None:
    """Have a request to end raise :class:`Stopped`, so that what was begun is undone."""
    signal.signal(signal.SIGTERM, _stop)
    signal.signal(signal.SIGHUP, _stop)


def _stop(_signal: int, _frame: object) -> NoReturn:
    raise Stopped("asked to end")
