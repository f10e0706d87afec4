"""PriorityClasses of a submission: made before its first workload, removed after its last has ended."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from ansible_collections.psap.perf.plugins.module_utils.errors import ClusterError, UsageError
from ansible_collections.psap.perf.plugins.module_utils.scale_test.api import ApiClient
from ansible_collections.psap.perf.plugins.module_utils.scale_test.assortment import Priority
from ansible_collections.psap.perf.plugins.module_utils.scale_test.labels import (
    MANAGED_BY,
    MANAGER,
    NAMESPACE,
    RUN,
    SUBMISSION,
    Submission,
)

_CLASSES = "/apis/scheduling.k8s.io/v1/priorityclasses"
_CONFLICT = 409
_NOT_FOUND = 404
# above are those of Kubernetes itself
_HIGHEST = 1_000_000_000
_NAME = re.compile(r"[a-z0-9]([-a-z0-9]{0,40}[a-z0-9])?")


def check_priorities(priorities: Sequence[Priority]) -> None:
    """:raises UsageError: when a PriorityClass cannot be made of one of them."""
    names = [priority.name for priority in priorities]
    for priority in priorities:
        if not _NAME.fullmatch(priority.name) or names.count(priority.name) > 1:
            raise UsageError(f"the priority {priority.name!r} needs a name of its own, of a-z, 0-9 and -")
        if abs(priority.value) > _HIGHEST:
            raise UsageError(
                f"the priority {priority.name} has the value {priority.value}; at most {_HIGHEST} is allowed"
            )


def class_name(submission: Submission, priority: str) -> str:
    """The name of the PriorityClass of this submission: the cluster has one set of them for all."""
    return f"{submission.identity}-{priority}"


@asynccontextmanager
async def priority_classes(
    client: ApiClient, submission: Submission, namespace: str, priorities: Sequence[Priority]
) -> AsyncIterator[None]:
    """The classes are there within; after it they are gone, whatever happened.

    They bear the label of *namespace*, the first one of the submission, by which its cleanup finds what a kill left.

    :raises ClusterError: when one cannot be made, or not removed although all went well.
    """
    try:
        for priority in priorities:
            await _make(client, submission, namespace, priority)
        yield
    except BaseException:
        # the first error is the one to tell; what is left behind, the cleanup finds by its label
        for priority in priorities:
            await client.request("DELETE", f"{_CLASSES}/{class_name(submission, priority.name)}")
        raise
    for priority in priorities:
        answer = await client.request("DELETE", f"{_CLASSES}/{class_name(submission, priority.name)}")
        if not answer.succeeded and answer.status != _NOT_FOUND:
            raise ClusterError(f"cannot remove the PriorityClass of {priority.name}: {answer.message()}")


async def _make(client: ApiClient, submission: Submission, namespace: str, priority: Priority) -> None:
    name = class_name(submission, priority.name)
    labels = {RUN: submission.run, SUBMISSION: submission.identity, NAMESPACE: namespace, MANAGED_BY: MANAGER}
    body = {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": name, "labels": labels},
        "value": priority.value,
        "description": "of a scale test, which removes it",
    }
    answer = await client.request("POST", _CLASSES, body=json.dumps(body).encode())
    # 409 is an earlier try of ours whose answer was lost: the name holds the submission's identity
    if not answer.succeeded and answer.status != _CONFLICT:
        raise ClusterError(f"cannot make the PriorityClass {name}: {answer.message()}")
