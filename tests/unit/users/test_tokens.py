"""Tokens of the users' own service accounts."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.kube_api.api_errors import (
    ConflictError,
    NotFoundError,
    ShortTokenError,
)
from ansible_collections.psap.perf.plugins.module_utils.kube_api.manifests import Manifest
from ansible_collections.psap.perf.plugins.module_utils.kube_api.query import Query
from ansible_collections.psap.perf.plugins.module_utils.users import tokens
from ansible_collections.psap.perf.plugins.module_utils.users.grants import Account
from ansible_collections.psap.perf.plugins.module_utils.users.tokens import give_tokens

from .objects import plan

JOB = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "users", "uid": "job-1"}}
SECRET = {"apiVersion": "v1", "kind": "Secret", "name": "users-tokens", "uid": "secret-1"}


class Cluster:
    """A cluster with a suspended Job, and service accounts of two users."""

    def __init__(self, job: Manifest | None = JOB) -> None:
        self._job = job
        self.created: list[Manifest] = []
        self.merged: list[tuple[str, Manifest]] = []
        self.bound: list[Any] = []
        self.conflicts = 0
        self.refusal: Exception | None = None

    def get(self, query: Query) -> Manifest | None:
        """Return the Job."""
        return self._job

    def create(self, manifest: Manifest) -> Manifest:
        """Record the Secret, unless the previous one is still there."""
        if self.conflicts:
            self.conflicts -= 1
            raise ConflictError("exists already")
        self.created.append(manifest)
        return {**manifest, "metadata": {**manifest["metadata"], "uid": "secret-1"}}

    def merge(self, query: Query, patch: Manifest) -> Manifest:
        """Record a change."""
        self.merged.append((query.kind, patch))
        return patch

    def service_account_token(self, namespace: str, name: str, lasting_s: int, bound: Manifest | None) -> str:
        """Return the name of the account."""
        if self.refusal:
            raise self.refusal
        if name not in ("local-ci-0", "local-ci-1"):
            raise NotFoundError(f"no {name}")
        self.bound.append(bound)
        return f"{namespace}/{name} for {lasting_s} s"


def give(cluster: Cluster, **changes: Any) -> str:
    return give_tokens(cluster, plan(**changes), Account("ci", "local-ci"), 900, lambda: None)


def test_each_user_has_a_token_until_the_job_is_deleted() -> None:
    cluster = Cluster()
    assert give(cluster, count=2) == "users-tokens"
    (secret,) = cluster.created
    assert secret["metadata"]["ownerReferences"] == [
        {"apiVersion": "batch/v1", "kind": "Job", "name": "users", "uid": "job-1"}
    ]
    assert cluster.bound == [SECRET, SECRET]
    values = {
        "token-0": "ci/local-ci-0 for 900 s",
        "token-1": "ci/local-ci-1 for 900 s",
        "namespace-0": "test-u0",
        "namespace-1": "test-u1",
    }
    # the pods start when the Secret has all tokens
    assert cluster.merged == [("Secret", {"stringData": values}), ("Job", {"spec": {"suspend": False}})]


def test_secret_of_an_earlier_job_is_awaited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "_POLL_S", 0.001)
    cluster = Cluster()
    cluster.conflicts = 2
    give(cluster, count=1)
    assert len(cluster.created) == 1


def test_job_is_not_started_without_the_account_of_a_user() -> None:
    cluster = Cluster()
    with pytest.raises(UsageError, match=r"no service account local-ci-2: .* at least 3"):
        give(cluster, count=3)
    assert cluster.merged == []


def test_job_is_not_started_with_tokens_that_expire_before_it() -> None:
    cluster = Cluster()
    cluster.refusal = ShortTokenError("the cluster limits tokens of service accounts to 600 s, but 900 s are needed")
    with pytest.raises(UsageError, match=r"to 600 s, but 900 s are needed: .*; lower timeout or ready_timeout"):
        give(cluster, count=1)
    assert cluster.merged == []


def test_missing_job_is_reported() -> None:
    with pytest.raises(UsageError, match="namespace ci has no Job users"):
        give(Cluster(job=None))
