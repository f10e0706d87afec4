"""Files of users from a bucket, with stand-ins for the cluster and the store."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.kube_api.manifests import Manifest
from ansible_collections.psap.perf.plugins.module_utils.kube_api.query import Query
from ansible_collections.psap.perf.plugins.module_utils.users.bucket import fetch_files, opened_bucket, sent_files
from ansible_collections.psap.perf.plugins.module_utils.users.plan import ExportPlan

EXPORT = ExportPlan("runs", "https://s3.example.org", "us-east-1", "ci", "store")


class Bucket:
    """A bucket whose objects contain their keys."""

    def __init__(self, *keys: str) -> None:
        self._keys = keys

    def sizes(self, prefix: str) -> dict[str, int]:
        """Return the objects below a prefix."""
        return {key: len(key) for key in self._keys if key.startswith(prefix)}

    def get(self, key: str, target: Path) -> str | None:
        """Write the key."""
        target.write_text(key)
        return None


class Cluster:
    """A cluster with a Secret that has some keys."""

    def __init__(self, *keys: str) -> None:
        self._data = {key: base64.b64encode(b"value").decode() for key in keys}

    def get(self, query: Query) -> Manifest | None:
        """Return the Secret."""
        return {"data": self._data} if self._data else None


def test_files_of_one_user_are_fetched(tmp_path: Path) -> None:
    bucket = Bucket("ci/user-1/sub/a.txt", "ci/user-1/exit_code", "ci/user-1/../b.txt", "ci/user-10/c.txt")
    fetch_files(bucket, sent_files(bucket, EXPORT, 1), tmp_path / "user-1")
    assert {path.name for path in tmp_path.rglob("*") if path.is_file()} == {"a.txt", "exit_code"}
    assert (tmp_path / "user-1/sub/a.txt").read_text() == "ci/user-1/sub/a.txt"


def test_files_that_were_not_all_sent_are_not_listed() -> None:
    assert sent_files(Bucket("ci/user-1/a.txt"), EXPORT, 1) == {}


@pytest.mark.parametrize(("keys", "missing"), [((), "access-key-id and no secret-"), (("access-key-id",), "secret-")])
def test_missing_key_of_the_store_is_reported(keys: tuple[str, ...], missing: str) -> None:
    with (
        pytest.raises(UsageError, match=f"Secret store of namespace ci has no {missing}access-key"),
        opened_bucket(Cluster(*keys), "ci", EXPORT),
    ):
        pass
