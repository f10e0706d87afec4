"""The files of a kubeconfig."""

from __future__ import annotations

import os
from pathlib import Path

from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError


def kubeconfig_files(named: str) -> list[Path]:
    """The files to read: a list in one text, as KUBECONFIG has it, is one configuration in several files.

    Those of several that are missing are left out, as kubectl does.

    :raises ClusterError: when none is there.
    """
    paths = [Path(text).expanduser() for text in named.split(os.pathsep) if text]
    found = [path for path in paths if path.exists()]
    if not found:
        raise ClusterError(f"the kubeconfig {named} does not exist; start the lab, or set perf_kubeconfig")
    return found
