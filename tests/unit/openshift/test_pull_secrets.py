"""Credentials of registries are added and removed without changing others."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError, UsageError
from ansible_collections.psap.perf.plugins.module_utils.openshift.pull_secrets import (
    ADDED,
    DOCUMENT,
    credentials_in,
    with_credentials,
    without_credentials,
)

THEIRS = {"quay.io": {"auth": "dGhlaXJz"}}
OURS = {"quay.io/rhoai": {"auth": "b3Vycw=="}}


def secret(credentials: dict[str, Any], added: str | None = None) -> dict[str, Any]:
    text = json.dumps({"auths": credentials})
    annotations = {ADDED: added} if added else {}
    return {
        "metadata": {"annotations": annotations},
        "data": {DOCUMENT: base64.b64encode(text.encode()).decode()},
    }


def credentials_after(change: dict[str, Any] | None) -> tuple[dict[str, Any], str | None]:
    assert change is not None
    return credentials_in(base64.b64decode(change["data"][DOCUMENT]).decode()), change["metadata"]["annotations"][ADDED]


def test_additions_are_recorded_and_others_kept() -> None:
    assert credentials_after(with_credentials(secret(THEIRS), OURS)) == ({**THEIRS, **OURS}, "quay.io/rhoai")


def test_existing_credentials_are_no_change() -> None:
    assert with_credentials(secret({**THEIRS, **OURS}, "quay.io/rhoai"), OURS) is None


def test_replaced_foreign_credentials_are_not_removed() -> None:
    assert credentials_after(with_credentials(secret(THEIRS), {"quay.io": {"auth": "bmV3"}})) == (
        {"quay.io": {"auth": "bmV3"}},
        None,
    )


def test_only_added_credentials_are_removed() -> None:
    assert credentials_after(without_credentials(secret({**THEIRS, **OURS}, "quay.io/rhoai"))) == (THEIRS, None)
    assert without_credentials(secret(THEIRS)) is None


def test_empty_pull_secret_accepts_credentials() -> None:
    empty: dict[str, Any] = {"metadata": {}}
    assert credentials_after(with_credentials(empty, OURS)) == (OURS, "quay.io/rhoai")


@pytest.mark.parametrize("text", ["user:hunter2", '{"auths": {}}', '["hunter2"]'])
def test_invalid_docker_configuration_is_refused_without_being_shown(text: str) -> None:
    with pytest.raises(UsageError, match="Docker configuration") as refused:
        credentials_in(text)
    assert "hunter2" not in str(refused.value)


def test_unreadable_pull_secret_is_not_overwritten() -> None:
    broken = {"metadata": {"name": "pull-secret"}, "data": {DOCUMENT: base64.b64encode(b"[1]").decode()}}
    with pytest.raises(ClusterError, match="not a Docker configuration"):
        with_credentials(broken, OURS)
