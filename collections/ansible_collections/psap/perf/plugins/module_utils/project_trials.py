"""Projects that are made only to see what new projects are like."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from typing import Protocol

from ansible_collections.psap.perf.plugins.module_utils.cluster import Manifest, Query
from ansible_collections.psap.perf.plugins.module_utils.errors import WaitTimeoutError

_PREFIX = "psap-perf-trial-"
_BETWEEN_LOOKS_S = 0.1
_BETWEEN_TRIALS_S = 2.0
# OpenShift answers once the project is there; the lab a moment before
_APPEARS_WITHIN_S = 10.0


class Source(Protocol):
    """What is needed of a cluster."""

    def create(self, manifest: Manifest) -> Manifest:
        """Create an object."""

    def get(self, query: Query) -> Manifest | None:
        """An object, or None."""

    def delete(self, query: Query) -> bool:
        """Delete an object; False when there was none."""


def try_until(source: Source, key: str, value: str | None, timeout_s: float, check: Callable[[], None]) -> int:
    """Make projects until one has the annotation *key* with *value*, or lacks it when that is None; how many it took.

    Each has a name of its own and is deleted at once; nobody waits until it is gone.

    :param check: raises when the user asked to stop.
    :raises WaitTimeoutError: when time is up.
    """
    deadline = time.monotonic() + timeout_s
    number = 0
    while True:
        check()
        number += 1
        seen = _trial(source, key, min(_APPEARS_WITHIN_S, timeout_s), check)
        if seen == value:
            return number
        if time.monotonic() >= deadline:
            raise WaitTimeoutError(
                f"new projects do not follow their template within {timeout_s:g} s: {key} is {seen!r} instead of "
                f"{value!r}; look at the ClusterOperator openshift-apiserver"
            )
        time.sleep(_BETWEEN_TRIALS_S)


def _trial(source: Source, key: str, within_s: float, check: Callable[[], None]) -> str | None:
    name = f"{_PREFIX}{secrets.token_hex(4)}"
    namespace = Query("v1", "Namespace", name=name)
    request = {"apiVersion": "project.openshift.io/v1", "kind": "ProjectRequest", "metadata": {"name": name}}
    source.create(request)
    try:
        made = _appeared(source, namespace, within_s, check)
    finally:
        source.delete(namespace)
    annotations = made["metadata"].get("annotations") or {}
    found = annotations.get(key)
    return None if found is None else str(found)


def _appeared(source: Source, namespace: Query, within_s: float, check: Callable[[], None]) -> Manifest:
    deadline = time.monotonic() + within_s
    while True:
        check()
        found = source.get(namespace)
        if found is not None:
            return found
        if time.monotonic() >= deadline:
            raise WaitTimeoutError(f"a project that was requested is not there after {within_s:g} s: {namespace.name}")
        time.sleep(_BETWEEN_LOOKS_S)
