"""PriorityClasses of a submission: made before its first workload, removed after its last has ended."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.scale_test.base.labels import Submission
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.api import ApiClient
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitting.belongings import (
    Belonging,
    belongings,
    labels_of,
)
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads.assortment import Priority

_CLASSES = "/apis/scheduling.k8s.io/v1/priorityclasses"
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
    classes = [_priority_class(submission, namespace, priority) for priority in priorities]
    async with belongings(client, submission, classes):
        yield


def _priority_class(submission: Submission, namespace: str, priority: Priority) -> Belonging:
    name = class_name(submission, priority.name)
    body = {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": name, "labels": labels_of(submission, namespace)},
        "value": priority.value,
        "description": "of a scale test, which removes it",
    }
    return Belonging(_CLASSES, body)
