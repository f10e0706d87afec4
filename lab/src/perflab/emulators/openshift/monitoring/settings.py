"""What the two ConfigMaps of the monitoring say: YAML in the key `config.yaml`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import yaml

from perflab.cluster.api import Document

CLUSTER, USER_WORKLOAD = "openshift-monitoring", "openshift-user-workload-monitoring"
CLUSTER_CONFIG, USER_WORKLOAD_CONFIG = "cluster-monitoring-config", "user-workload-monitoring-config"

_KEY = "config.yaml"


@dataclass(frozen=True, slots=True)
class UserWorkload:
    """How the Prometheus of users' workloads is to be."""

    retention: str = "24h"
    log_level: str = "info"


def is_enabled(config: Document | None) -> bool:
    """Whether the monitoring of users' workloads is asked for; it is not when nobody can read the text."""
    return _read(config).get("enableUserWorkload") is True


def user_workload(config: Document | None) -> UserWorkload:
    """What is said of its Prometheus, defaults elsewhere."""
    said = _read(config).get("prometheus") or {}
    known = {"retention": said.get("retention"), "log_level": said.get("logLevel")}
    return UserWorkload(**{name: str(value) for name, value in known.items() if value is not None})


def _read(config: Document | None) -> dict[str, Any]:
    text = ((config or {}).get("data") or {}).get(_KEY, "")
    try:
        said = yaml.safe_load(text)
    except yaml.YAMLError:
        return {}
    return said if isinstance(said, dict) else {}
