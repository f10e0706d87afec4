"""Fetch profiles: of the API server by its address, of other components by a port-forward to their pods."""

from __future__ import annotations

import http.client
import ssl
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol

from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError
from ansible_collections.psap.perf.plugins.module_utils.kube_api.manifests import Manifest
from ansible_collections.psap.perf.plugins.module_utils.kube_api.port_forward import Forwarded
from ansible_collections.psap.perf.plugins.module_utils.kube_api.query import Query
from ansible_collections.psap.perf.plugins.module_utils.profiling.components import (
    API_SERVER,
    CPU,
    PodSelection,
    ProfileTarget,
)

_POLL_S = 0.5
_OK, _FORBIDDEN = 200, frozenset({401, 403})
_NOT_FOUND = 404
# pprof returns gzip
_GZIP = b"\x1f\x8b"


class Source(Protocol):
    """The required methods of a cluster."""

    def list(self, query: Query) -> tuple[list[Manifest], str]:
        """Return objects and their resourceVersion."""


class Server(Protocol):
    """The required methods of an API server."""

    def raw(self, path: str, timeout_s: float) -> tuple[int, bytes]:
        """Return status and body of a path of the API server."""


class ProfileError(Exception):
    """A profile is missing; the message has the reason."""


@dataclass(frozen=True, slots=True)
class FetchedProfile:
    """A profile, or the reason why it is missing.

    Attributes:
        begin_s: Seconds since the epoch, by the clock of this machine.
    """

    target: ProfileTarget
    begin_s: float
    end_s: float
    content: bytes = b""
    error: str = ""


@dataclass(frozen=True, slots=True)
class ProfileFetcher:
    """Fetches profiles.

    Attributes:
        server: The API server.
        connect: Opens a connection to a port of a pod, until its block ends.
        identity: Returns the TLS context and the headers by which a component authenticates the user.
        duration_s: How long a CPU profile lasts.
        timeout_s: How long to wait for a response, in addition.
    """

    server: Server
    connect: Callable[[str, str, int], AbstractContextManager[Forwarded]]
    identity: Callable[[], tuple[ssl.SSLContext, Mapping[str, str]]]
    duration_s: float
    timeout_s: float

    def fetch(self, target: ProfileTarget) -> FetchedProfile:
        """Return one profile."""
        begin = time.time()
        try:
            status, body = self._answer(target)
            content = _checked(status, body)
        except (ClusterError, ProfileError) as error:
            return FetchedProfile(target, begin, time.time(), error=str(error))
        return FetchedProfile(target, begin, time.time(), content)

    def _answer(self, target: ProfileTarget) -> tuple[int, bytes]:
        path = target.path(self.duration_s)
        patience = self.timeout_s + (self.duration_s if target.profile == CPU else 0)
        if not target.pod:
            return self.server.raw(path, patience)
        with self.connect(target.namespace, target.pod, target.port) as connection:
            return self._ask_pod(connection, target, path, patience)

    def _ask_pod(self, connection: Forwarded, target: ProfileTarget, path: str, patience_s: float) -> tuple[int, bytes]:
        client = http.client.HTTPConnection(target.pod, target.port, timeout=patience_s)
        headers: Mapping[str, str] = {}
        try:
            connection.socket.settimeout(patience_s)
            client.sock = connection.socket
            if target.secured:
                context, headers = self.identity()
                client.sock = context.wrap_socket(connection.socket)
            client.request("GET", path, headers=dict(headers))
            answer = client.getresponse()
            return answer.status, answer.read()
        except TimeoutError as error:
            raise ProfileError(f"no response within {patience_s:g} s") from error
        except (OSError, http.client.HTTPException) as error:
            raise ProfileError(connection.error() or str(error) or type(error).__name__) from error
        finally:
            client.close()


def targets_of(
    source: Source,
    components: Iterable[str],
    profiles: Iterable[str],
    known: Mapping[str, tuple[PodSelection, ...]],
) -> tuple[list[ProfileTarget], list[str]]:
    """Return the profiles to fetch, and the components that have no pod.

    Raises:
        ClusterError: If the cluster does not respond, or the user may not list pods.
    """
    wanted, found, missing = list(dict.fromkeys(profiles)), [], []
    for component in dict.fromkeys(components):
        if component == API_SERVER:
            found += [ProfileTarget(component, profile) for profile in wanted]
            continue
        pods = [
            ProfileTarget(component, profile, each.namespace, pod["metadata"]["name"], each.port, each.secured)
            for each in known[component]
            for pod in source.list(Query("v1", "Pod", each.namespace, label_selector=each.label_selector))[0]
            if (pod.get("status") or {}).get("phase") == "Running"
            for profile in wanted
        ]
        found += pods
        missing += [] if pods else [component]
    return found, missing


def fetch_all(fetcher: ProfileFetcher, targets: list[ProfileTarget], check: Callable[[], None]) -> list[FetchedProfile]:
    """Return every profile, in the order of *targets*. CPU profiles are of the same time, since all run concurrently.

    Args:
        check: Called twice a second; an exception ends the wait, but not the profiles that have begun.
    """
    pool = ThreadPoolExecutor(max(1, len(targets)), thread_name_prefix="profile")
    try:
        tasks = [pool.submit(fetcher.fetch, target) for target in targets]
        waiting = set(tasks)
        while waiting:
            _done, waiting = wait(waiting, timeout=_POLL_S, return_when=FIRST_COMPLETED)
            check()
        return [task.result() for task in tasks]
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _checked(status: int, body: bytes) -> bytes:
    if status in _FORBIDDEN:
        raise ProfileError(f"responds with {status}: the user needs the verb get for the URL /debug/pprof/*")
    if status == _NOT_FOUND:
        raise ProfileError("responds with 404: profiling is disabled there")
    if status != _OK:
        raise ProfileError(f"responds with {status}: {body[:200].decode('utf-8', 'replace').strip()}")
    if not body.startswith(_GZIP):
        raise ProfileError("the response is not a profile")
    return body


def profile_document(fetched: FetchedProfile) -> dict[str, Any]:
    """Return a profile for a document."""
    target = fetched.target
    known: dict[str, Any] = {
        "component": target.component,
        "profile": target.profile,
        "namespace": target.namespace or None,
        "pod": target.pod or None,
        "begin_s": round(fetched.begin_s, 3),
        "end_s": round(fetched.end_s, 3),
    }
    if fetched.error:
        return {**known, "error": fetched.error}
    return {**known, "file": f"profiles/{target.file}", "bytes": len(fetched.content)}
