"""Tokens of the users' own service accounts, which each pod reads from one key of a Secret."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol

from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.kube_api.api_errors import (
    ConflictError,
    NotFoundError,
    ShortTokenError,
)
from ansible_collections.psap.perf.plugins.module_utils.kube_api.manifests import Manifest
from ansible_collections.psap.perf.plugins.module_utils.kube_api.query import Query
from ansible_collections.psap.perf.plugins.module_utils.users.grants import Account, user_account
from ansible_collections.psap.perf.plugins.module_utils.users.plan import LABEL, UsersPlan
from ansible_collections.psap.perf.plugins.module_utils.waiting.polling import pass_time

_POLL_S = 0.3
_DELETED_WITHIN_S = 30.0


class Tokens(Protocol):
    """The part of a cluster's client that this module uses."""

    def get(self, query: Query) -> Manifest | None:
        """Return the object that *query* names."""

    def create(self, manifest: Manifest) -> Manifest:
        """Create an object."""

    def merge(self, query: Query, patch: Manifest) -> Manifest:
        """Merge *patch* into an object."""

    def service_account_token(self, namespace: str, name: str, lasting_s: int, bound: Manifest | None) -> str:
        """Return a token that is valid until the object *bound* is deleted."""


def give_tokens(cluster: Tokens, plan: UsersPlan, account: Account, lasts_s: int, check: Callable[[], None]) -> str:
    """Create the Secret ``JOB-tokens`` for the suspended Job of the users, and let the Job start its pods.

    The deletion of the Job deletes the Secret, which revokes the tokens.

    Args:
        account: The users' service account; the account of user 3 is named ``NAME-3``.
        lasts_s: How long the tokens are valid.
        check: Raises if the user interrupts the run.

    Returns:
        The name of the Secret.

    Raises:
        UsageError: If the Job, or the account of a user, is missing, or the cluster grants only a shorter lifetime.
    """
    query = Query("batch/v1", "Job", plan.namespace, plan.job)
    job = cluster.get(query)
    if job is None:
        raise UsageError(f"namespace {plan.namespace} has no Job {plan.job}; create it before its tokens")
    secret = _reference(_created(cluster, _secret(plan, job), check))
    values = {}
    for index in range(plan.count):
        check()
        values[f"token-{index}"] = _token(cluster, account, index, lasts_s, secret)
        values[f"namespace-{index}"] = plan.user(index).namespace or plan.namespace
    cluster.merge(Query("v1", "Secret", plan.namespace, secret["name"]), {"stringData": values})
    cluster.merge(query, {"spec": {"suspend": False}})
    return secret["name"]


def _created(cluster: Tokens, secret: Manifest, check: Callable[[], None]) -> Manifest:
    """Create the Secret; the cluster may still be deleting the Secret of an earlier Job."""
    deadline = time.monotonic() + _DELETED_WITHIN_S
    while True:
        try:
            return cluster.create(secret)
        except ConflictError:
            if time.monotonic() > deadline:
                raise
            pass_time(_POLL_S, check)


def _secret(plan: UsersPlan, job: Manifest) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {
            "name": f"{plan.job}-tokens",
            "namespace": plan.namespace,
            "labels": {LABEL: plan.job},
            "ownerReferences": [_reference(job)],
        },
    }


def _reference(manifest: Manifest) -> dict[str, str]:
    metadata = manifest["metadata"]
    kind = {"apiVersion": manifest["apiVersion"], "kind": manifest["kind"]}
    return {**kind, "name": metadata["name"], "uid": metadata["uid"]}


def _token(cluster: Tokens, account: Account, index: int, lasts_s: int, secret: dict[str, str]) -> str:
    own = user_account(account, index)
    try:
        return cluster.service_account_token(own.namespace, own.name, lasts_s, secret)
    except NotFoundError as error:
        raise UsageError(
            f"namespace {own.namespace} has no service account {own.name}: run prepare-users with user_rights, and "
            f"with a user_count of at least {index + 1}"
        ) from error
    except ShortTokenError as error:
        raise UsageError(f"{error}: the users' timeouts and 15 minutes; lower timeout or ready_timeout") from error
