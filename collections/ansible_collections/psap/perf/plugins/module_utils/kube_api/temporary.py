"""Temporary objects of a command: they have the run's label, by which they are found after a kill."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.documents import command_files, read_yaml
from ansible_collections.psap.perf.plugins.module_utils.base.errors import PerfError
from ansible_collections.psap.perf.plugins.module_utils.base.naming import label_value
from ansible_collections.psap.perf.plugins.module_utils.kube_api.applying import Outcome, delete_all
from ansible_collections.psap.perf.plugins.module_utils.kube_api.client import Cluster
from ansible_collections.psap.perf.plugins.module_utils.kube_api.query import Query

LABEL = "psap.perf/temporary"


def labels(run: str) -> dict[str, str]:
    """Return the label of temporary objects of *run*."""
    return {LABEL: label_value(run)}


def queries(run_directory: Path) -> list[Query]:
    """Return queries for the temporary objects of a run, from the manifests in its commands' folders.

    Listing every kind in every namespace would require permissions that users should not need.
    """
    manifests = (_read(path) for path in command_files(run_directory, "src/*.yml"))
    return list(dict.fromkeys(query for manifest in manifests for query in _query(manifest)))


def _query(manifest: dict[str, Any]) -> Iterator[Query]:
    metadata = manifest.get("metadata")
    if not isinstance(metadata, dict):
        return
    run = (metadata.get("labels") or {}).get(LABEL)
    if run:
        selector = f"{LABEL}={run}"
        yield Query(manifest["apiVersion"], manifest["kind"], metadata.get("namespace"), label_selector=selector)


def _read(path: Path) -> dict[str, Any]:
    """Return a manifest; empty if the file is damaged, for example by a kill."""
    try:
        return read_yaml(path)
    except PerfError:
        return {}


def delete(
    cluster: Cluster, wanted: Iterable[Query], check_mode: bool, timeout_s: float, check: Callable[[], None]
) -> list[Outcome]:
    """Delete the objects of the queries *wanted*, and wait until they and the objects that they own are gone.

    Raises:
        WaitTimeoutError: If objects still exist after *timeout_s*.
    """
    served = [query for query in wanted if cluster.serves(query.api_version, query.kind)]
    found = [item for query in served for item in cluster.list(query)[0]]
    # the command itself deletes an object that is being deleted already, and decides whether to wait
    left = [item for item in found if not item["metadata"].get("deletionTimestamp")]
    return delete_all(cluster, left, check_mode, timeout_s, check)
