"""Run a module on a host until it ends, or the controller no longer waits for it."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Callable
from typing import Any, NoReturn

from ansible_collections.psap.perf.plugins.module_utils.hosts.programs import HostSideError, Stopped


def listened() -> bool:
    """Return whether the connection is still open, by writing an empty line, which Ansible ignores."""
    try:
        os.write(1, b"\n")
    except OSError:
        return False
    return True


def answer(module: Any, work: Callable[[], Any], *, changed: bool) -> NoReturn:
    """Do the work of a module, and end the module with the result.

    Args:
        module: The AnsibleModule.
        work: Returns the result; a signal to end raises :class:`Stopped` in it.
        changed: Whether the work changes the host.
    """
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _stop)
    try:
        module.exit_json(changed=changed, answer=work())
    except (HostSideError, OSError) as problem:
        module.fail_json(msg=str(problem))
    except Stopped:
        with contextlib.suppress(OSError):
            module.fail_json(msg="stopped")
    raise SystemExit(1)


def _stop(_signal: int, _frame: object) -> NoReturn:
    raise Stopped("received a signal to end")
