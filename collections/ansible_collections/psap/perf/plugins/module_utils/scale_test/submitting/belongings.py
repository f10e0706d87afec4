"""Objects that a submission makes for itself beside its workloads: there before the first, gone after the last."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError
from ansible_collections.psap.perf.plugins.module_utils.scale_test.base.labels import (
    MANAGED_BY,
    MANAGER,
    NAMESPACE,
    RUN,
    SUBMISSION,
    Submission,
)
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.api import ApiClient

NOT_FOUND = 404
_CONFLICT = 409


@dataclass(frozen=True, slots=True)
class Belonging:
    """An object to make at the API's path *collection*."""

    collection: str
    body: dict[str, Any]

    @property
    def path(self) -> str:
        """The API's path of the object."""
        return f"{self.collection}/{self.body['metadata']['name']}"

    def __str__(self) -> str:
        return f"the {self.body['kind']} {self.body['metadata']['name']}"


def labels_of(submission: Submission, namespace: str) -> dict[str, str]:
    """The labels of what belongs to *submission*; by its first *namespace* the cleanup finds what a kill left."""
    return {RUN: submission.run, SUBMISSION: submission.identity, NAMESPACE: namespace, MANAGED_BY: MANAGER}


@asynccontextmanager
async def belongings(client: ApiClient, submission: Submission, wanted: Iterable[Belonging]) -> AsyncIterator[None]:
    """The objects *wanted*, made in this order, are there within; after it they are deleted, whatever happened.

    :raises ClusterError: when one cannot be made, or not removed although all went well.
    """
    made: list[Belonging] = []
    try:
        for each in wanted:
            await _make(client, submission, each)
            # not before: one that was refused is another's
            made.append(each)
        yield
    except BaseException:
        # the first error is the one to tell; what is left behind, the cleanup finds by its labels
        for each in reversed(made):
            await client.request("DELETE", each.path)
        raise
    for each in reversed(made):
        answer = await client.request("DELETE", each.path)
        if not answer.succeeded and answer.status != NOT_FOUND:
            raise ClusterError(f"cannot remove {each}: {answer.message()}")


async def _make(client: ApiClient, submission: Submission, wanted: Belonging) -> None:
    answer = await client.request("POST", wanted.collection, body=json.dumps(wanted.body).encode())
    if answer.status == _CONFLICT:
        # an earlier try of ours whose answer was lost, or another's
        found = await client.request("GET", wanted.path)
        labels = (found.document().get("metadata") or {}).get("labels") or {}
        if labels.get(SUBMISSION) == submission.identity:
            return
    if not answer.succeeded:
        raise ClusterError(f"cannot make {wanted}: {answer.message()}")
