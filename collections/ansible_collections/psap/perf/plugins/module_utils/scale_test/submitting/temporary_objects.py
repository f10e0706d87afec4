"""Objects that a submission creates before its first workload, and deletes after its last."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError
from ansible_collections.psap.perf.plugins.module_utils.scale_test.base.labels import NAMESPACE, Submission
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.api import ApiClient

NOT_FOUND = 404
_CONFLICT = 409


@dataclass(frozen=True, slots=True)
class TemporaryObject:
    """An object to create at the API's path *collection*."""

    collection: str
    body: dict[str, Any]

    @property
    def path(self) -> str:
        """The API's path of the object."""
        return f"{self.collection}/{self.body['metadata']['name']}"

    @classmethod
    def with_spec(
        cls, collection: str, kind: str, name: str, labels: Mapping[str, str], spec: Mapping[str, Any]
    ) -> TemporaryObject:
        """Return an object of a group of APIs; its version is a part of the path *collection*."""
        version = "/".join(collection.split("/")[2:4])
        metadata = {"name": name, "labels": dict(labels)}
        return cls(collection, {"apiVersion": version, "kind": kind, "metadata": metadata, "spec": dict(spec)})

    def __str__(self) -> str:
        return f"the {self.body['kind']} {self.body['metadata']['name']}"


def labels_of(submission: Submission, namespace: str) -> dict[str, str]:
    """Return the labels of objects of *submission*; the cleanup finds them by the first *namespace* after a kill."""
    return {**submission.common_labels, NAMESPACE: namespace}


@asynccontextmanager
async def temporary_objects(client: ApiClient, wanted: Iterable[TemporaryObject]) -> AsyncIterator[None]:
    """Create the objects *wanted* in this order, and delete them after the block, also after an error.

    Raises:
        ClusterError: If one cannot be created, or not deleted after a block without an error.
    """
    created: list[TemporaryObject] = []
    try:
        for each in wanted:
            await _create(client, each)
            # not before: a refused object may belong to another submission
            created.append(each)
        yield
    except BaseException:
        # report the first error; the cleanup finds remaining objects by their labels
        for each in reversed(created):
            await client.request("DELETE", each.path)
        raise
    for each in reversed(created):
        answer = await client.request("DELETE", each.path)
        if not answer.succeeded and answer.status != NOT_FOUND:
            raise ClusterError(f"cannot delete {each}: {answer.message()}")


async def _create(client: ApiClient, wanted: TemporaryObject) -> None:
    answer = await client.request("POST", wanted.collection, body=json.dumps(wanted.body).encode())
    if answer.status == _CONFLICT:
        # created by an earlier attempt whose answer was lost, or by another client
        found = await client.request("GET", wanted.path)
        labels = (found.document().get("metadata") or {}).get("labels") or {}
        if wanted.body["metadata"]["labels"].items() <= labels.items():
            return
    if not answer.succeeded:
        raise ClusterError(f"cannot create {wanted}: {answer.message()}")
