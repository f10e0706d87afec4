"""Results of guidellm that are in the pod of its Job."""

from __future__ import annotations

from collections.abc import Callable
from typing import BinaryIO

from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError
from ansible_collections.psap.perf.plugins.module_utils.cluster.pod_exec import Executed
from ansible_collections.psap.perf.plugins.module_utils.serving.guidellm import IN_POD


def fetch(run: Callable[[list[str], BinaryIO], Executed], pod: str, stream: BinaryIO) -> None:
    """Write the results that are in *pod* to *stream*.

    :param run: runs a program in the pod, its output going to the stream.
    :raises ClusterError: when there are none, or the connection is cut off.
    """
    done = run(["cat", IN_POD], stream)
    if done.exit_code:
        raise ClusterError(f"pod {pod} has no results: {done.errors}; its log says what guidellm did")
