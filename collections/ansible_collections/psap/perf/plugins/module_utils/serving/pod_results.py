"""Results of a load generator in the pod of its Job."""

from __future__ import annotations

from collections.abc import Callable
from typing import BinaryIO

from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError
from ansible_collections.psap.perf.plugins.module_utils.kube_api.pod_exec import Executed


def fetch(run: Callable[[list[str], BinaryIO], Executed], pod: str, path: str, stream: BinaryIO) -> None:
    """Write the results, the file *path* in *pod*, to *stream*.

    Args:
        run: Runs a program in the pod, with its output in the stream.

    Raises:
        ClusterError: If there are no results, or the connection is cut off.
    """
    done = run(["cat", path], stream)
    if done.exit_code:
        raise ClusterError(f"pod {pod} has no results: {done.errors}; see its log")
