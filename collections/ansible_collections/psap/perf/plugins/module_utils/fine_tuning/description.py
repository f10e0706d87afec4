"""The input of the programs in a fine-tuning job's pods, and the ConfigMaps with programs and input."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.kube_api.manifests import Manifest

LABEL = "psap.perf/fine-tuning-job"
_NAME = re.compile(r"[a-z][-a-z0-9]{0,48}[a-z0-9]")


def check_job(job: Mapping[str, Any]) -> dict[str, Any]:
    """Return *job* if it is valid.

    Raises:
        UsageError: If its name or a number is invalid; the message lists all problems.
    """
    problems = []
    if not _NAME.fullmatch(job["name"]):
        rule = "begin with a letter, use at most 50 letters, digits and dashes"
        problems.append(f"{job['name']} is not a valid job name; {rule}")
    if job["pods"] < 1 or job["gpus_per_pod"] < 0 or job["dataset"]["replication"] <= 0:
        problems.append("pod_count begins at 1, gpu at 0, and dataset_replication is above 0")
    if problems:
        raise UsageError("; ".join(problems))
    return dict(job)


def config_maps(
    job: Mapping[str, Any], configuration: Mapping[str, Any], programs: Mapping[str, Mapping[str, str]]
) -> list[Manifest]:
    """Return ``<job>-config`` with ``job.json`` and ``config.json``, and a ConfigMap for each entry of *programs*."""
    documents = {"config.json": _document(configuration), "job.json": _document(job)}
    return [_config_map(job["name"], part, data) for part, data in {"config": documents, **programs}.items()]


def _config_map(job: str, part: str, data: Mapping[str, str]) -> Manifest:
    metadata = {"name": f"{job}-{part}", "labels": {LABEL: job}}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": dict(data)}


def _document(value: Mapping[str, Any]) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False, sort_keys=True)
