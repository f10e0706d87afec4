"""PriorityClasses of a submission, created before its first workload and deleted after its end."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.scale_test.base.labels import Submission
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.api import ApiClient
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitting.temporary_objects import (
    TemporaryObject,
    labels_of,
    temporary_objects,
)
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads.assortment import Priority

_CLASSES = "/apis/scheduling.k8s.io/v1/priorityclasses"
# higher values are reserved for Kubernetes
_HIGHEST = 1_000_000_000
_NAME = re.compile(r"[a-z0-9]([-a-z0-9]{0,40}[a-z0-9])?")


def check_priorities(priorities: Sequence[Priority]) -> None:
    """Check the names and values of *priorities*.

    Raises:
        UsageError: If one is invalid for a PriorityClass.
    """
    names = [priority.name for priority in priorities]
    for priority in priorities:
        if not _NAME.fullmatch(priority.name) or names.count(priority.name) > 1:
            raise UsageError(f"the priority {priority.name!r} needs a unique name of a-z, 0-9 and -")
        if abs(priority.value) > _HIGHEST:
            raise UsageError(
                f"the priority {priority.name} has the value {priority.value}; at most {_HIGHEST} is allowed"
            )


def class_name(submission: Submission, priority: str) -> str:
    """Return the name of the submission's PriorityClass, unique as these classes have no namespace."""
    return f"{submission.identity}-{priority}"


@asynccontextmanager
async def priority_classes(
    client: ApiClient, submission: Submission, namespace: str, priorities: Sequence[Priority]
) -> AsyncIterator[None]:
    """Create the classes, and delete them after the block, also after an error.

    Args:
        namespace: The submission's first namespace, a label by which the cleanup finds the classes after a kill.

    Raises:
        ClusterError: If one cannot be created, or not deleted after a block without an error.
    """
    classes = [_priority_class(submission, namespace, priority) for priority in priorities]
    async with temporary_objects(client, classes):
        yield


def _priority_class(submission: Submission, namespace: str, priority: Priority) -> TemporaryObject:
    name = class_name(submission, priority.name)
    body = {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": name, "labels": labels_of(submission, namespace)},
        "value": priority.value,
        "description": "of a scale test, which deletes it",
    }
    return TemporaryObject(_CLASSES, body)
