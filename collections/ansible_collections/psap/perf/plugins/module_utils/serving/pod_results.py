"""Results of a load generator that are in the pod of its Job."""

from __future__ import annotations

from collections.abc import Callable
from typing import BinaryIO

from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError
from ansible_collections.psap.perf.plugins.module_utils.kube_api.pod_exec import Executed


def fetch(run: Callable[[list[str], BinaryIO], Executed], pod: str, path: str, stream: BinaryIO) -> None:
    """Write the results that are in *pod*, the file *path*, to *stream*.

    :param run: runs a program in the pod, its output going to the stream.
    :raises ClusterError: when there are none, or the connection is cut off.
    """
    done = run(["cat", path], stream)
    if done.exit_code:
        raise ClusterError(f"pod {pod} has no results: {done.errors}; its log says what the load generator did")
