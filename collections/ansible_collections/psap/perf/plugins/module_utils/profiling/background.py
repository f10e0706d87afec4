"""Work that goes on after its task has ended, for a limited time."""

from __future__ import annotations

import os
import resource
from collections.abc import Callable

from ansible_collections.psap.perf.plugins.module_utils.base.processes import name_process

PROCESS_NAME = "perf-profile"


def detach(work: Callable[[], None], name: str = PROCESS_NAME) -> None:
    """Run *work* in a process that outlives this one, and return immediately.

    Args:
        work: Ends by itself, and writes its result and its errors to a file. It opens its own connections.
        name: The name of the process.
    """
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        return
    try:
        os.setsid()
        if os.fork():
            return
        # Ansible waits until all processes have closed its pipes
        os.closerange(0, resource.getrlimit(resource.RLIMIT_NOFILE)[0])
        for _stream in (0, 1, 2):
            os.open(os.devnull, os.O_RDWR)
        name_process(name)
        work()
    finally:
        os._exit(0)
