"""Start and stop the profiler of a model server, by vLLM's endpoints of its torch profiler."""

from __future__ import annotations

import http.client
from collections.abc import Callable, Sequence
from contextlib import closing, suppress

from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError
from ansible_collections.psap.perf.plugins.module_utils.serving.endpoints import Endpoint

STARTED, STOPPED = "started", "stopped"
_PATHS = {STARTED: "/start_profile", STOPPED: "/stop_profile"}
_OK, _ABSENT = 200, (404, 405)
_SHOWN = 300


def set_profiler(endpoint: Endpoint, state: str, timeout_s: float) -> None:
    """Start or stop the profiler of a server.

    Args:
        state: `started` or `stopped`.
        timeout_s: Limit of the request; a server that stops writes its trace before it answers.

    Raises:
        ClusterError: If the server does not respond, has no such endpoint, or refuses.
    """
    path = _PATHS[state]
    try:
        with closing(http.client.HTTPConnection(endpoint.host, endpoint.port, timeout=timeout_s)) as client:
            client.request("POST", path)
            response = client.getresponse()
            text = response.read().decode("utf-8", "replace")
    except (OSError, http.client.HTTPException) as error:
        raise ClusterError(f"{endpoint.shown} does not respond: {error or type(error).__name__}") from error
    if response.status in _ABSENT:
        raise ClusterError(
            f"{endpoint.shown} has no {path} (it responds with {response.status}): start vLLM with "
            "--profiler-config (older versions: VLLM_TORCH_PROFILER_DIR), or do not profile the server"
        )
    if response.status != _OK:
        raise ClusterError(
            f"{endpoint.shown} refuses {path}: it responds with {response.status} {response.reason}: {text[:_SHOWN]}"
        )


def set_profilers(pods: Sequence[str], state: str, set_one: Callable[[str, str], None]) -> None:
    """Start or stop the profiler of each pod by *set_one*, which gets the pod and the state.

    Raises:
        ClusterError: The first error. If a pod does not start, those that were started are stopped before; if a pod
            does not stop, the others are stopped before.
    """
    errors: list[ClusterError] = []
    for number, pod in enumerate(pods):
        try:
            set_one(pod, state)
        except ClusterError as error:
            errors.append(error)
            if state == STARTED:
                for started in pods[:number]:
                    with suppress(ClusterError):
                        set_one(started, STOPPED)
                break
    if errors:
        raise errors[0]
