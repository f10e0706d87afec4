"""Fetch the files of users whose pods are gone from the bucket to which the pods sent them."""

from __future__ import annotations

import base64
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Protocol

from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.exporting.places import Access, Keys
from ansible_collections.psap.perf.plugins.module_utils.exporting.store import Store
from ansible_collections.psap.perf.plugins.module_utils.kube_api.manifests import Manifest
from ansible_collections.psap.perf.plugins.module_utils.kube_api.query import Query
from ansible_collections.psap.perf.plugins.module_utils.users.plan import ExportPlan

# the pods send this file last
LAST = "exit_code"


class Secrets(Protocol):
    """The part of a cluster's client that this module uses."""

    def get(self, query: Query) -> Manifest | None:
        """Return the object that *query* names."""


class Objects(Protocol):
    """The part of a bucket that this module uses."""

    def sizes(self, prefix: str) -> dict[str, int]:
        """Return the objects below a prefix."""

    def get(self, key: str, target: Path) -> str | None:
        """Write an object's content to a file."""


@contextmanager
def opened_bucket(cluster: Secrets, namespace: str, export: ExportPlan) -> Iterator[Store]:
    """Yield the bucket, with the keys and the authority that the pods read from their Secret.

    Raises:
        UsageError: If the Secret, or a key of it, is missing.
    """
    secret = cluster.get(Query("v1", "Secret", namespace, export.secret_name))
    data = {name: base64.b64decode(value).decode() for name, value in ((secret or {}).get("data") or {}).items()}
    missing = [name for name in ("access-key-id", "secret-access-key") if name not in data]
    if missing:
        raise UsageError(f"Secret {export.secret_name} of namespace {namespace} has no {' and no '.join(missing)}")
    keys = Keys(data["access-key-id"].strip(), data["secret-access-key"].strip())
    with tempfile.NamedTemporaryFile("w", suffix=".crt") as authority:
        authority.write(data.get("ca.crt", ""))
        authority.flush()
        trusted = authority.name if "ca.crt" in data else ""
        access = Access(export.endpoint, region=export.region, authority=trusted, keys=keys)
        with Store(access, export.bucket) as store:
            yield store


def sent_files(bucket: Objects, export: ExportPlan, index: int) -> dict[str, PurePosixPath]:
    """Return the relative path of each object of a user; none if its pod has not sent all files.

    Objects with paths outside a folder are left out.
    """
    prefix = f"{export.prefix}/user-{index}/"
    found = {key: PurePosixPath(key.removeprefix(prefix)) for key in bucket.sizes(prefix)}
    if f"{prefix}{LAST}" not in found:
        return {}
    return {key: path for key, path in found.items() if not path.is_absolute() and ".." not in path.parts}


def fetch_files(bucket: Objects, files: Mapping[str, PurePosixPath], folder: Path) -> None:
    """Write objects to their paths in *folder*."""
    for key, path in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        bucket.get(key, target)
