"""The program of a helper process beside Ansible's: ``python -P …/child_process.py MODULE PARENT ARGUMENT…``.

It calls ``main`` of *MODULE* (below ``module_utils``) with the arguments, and dies with the process *PARENT* that
started it. It needs neither Ansible nor the driver: it makes the collection that contains it importable.
"""

from __future__ import annotations

import os
import signal
import sys
import types
from importlib import import_module
from pathlib import Path

_COLLECTIONS = "ansible_collections"
_MODULE_UTILS = f"{_COLLECTIONS}.psap.perf.plugins.module_utils"


def activate() -> None:
    """Let ``import ansible_collections.psap.perf…`` find the collection that this file is part of."""
    here = Path(__file__).resolve()
    package = types.ModuleType(_COLLECTIONS)
    package.__path__ = [str(parent) for parent in here.parents if parent.name == _COLLECTIONS][:1]
    sys.modules[_COLLECTIONS] = package


def main(module: str, parent: str, *arguments: str) -> int:
    """Call ``main`` of *module* and return the exit code."""
    activate()
    from ansible_collections.psap.perf.plugins.module_utils.base.credentials import hide
    from ansible_collections.psap.perf.plugins.module_utils.base.errors import PerfError
    from ansible_collections.psap.perf.plugins.module_utils.base.processes import die_with_parent

    # a terminal's Ctrl-C reaches every process of its group; the parent decides how this one ends
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    die_with_parent()
    if os.getppid() != int(parent):
        return 0  # the parent died while this process started
    try:
        import_module(f"{_MODULE_UTILS}.{module}").main(*arguments)
    except PerfError as error:
        sys.stderr.write(hide(f"Error: {error}\n"))
        return error.exit_code
    return 0


if __name__ == "__main__":
    raise SystemExit(main(*sys.argv[1:]))
