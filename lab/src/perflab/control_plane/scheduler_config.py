"""Users' configurations of schedulers: their profiles and plugins, with the lab's own access to the API server."""

from __future__ import annotations

from pathlib import Path

import yaml

from perflab.cluster.api import Document
from perflab.errors import UsageError
from perflab.files.bounded_yaml import load_yaml

_VERSION, _KIND = "kubescheduler.config.k8s.io/v1", "KubeSchedulerConfiguration"
_DEFAULT_NAME = "default-scheduler"


def read_scheduler_config(path: Path) -> Document:
    """Read a KubeSchedulerConfiguration from a YAML file. Raises UsageError if it is none."""
    try:
        document = load_yaml(path.read_text())
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise UsageError(f"cannot read the scheduler configuration {path}: {error}") from error
    if not isinstance(document, dict) or (document.get("apiVersion"), document.get("kind")) != (_VERSION, _KIND):
        raise UsageError(
            f"the scheduler configuration {path} must be one YAML document of kind {_KIND} and apiVersion {_VERSION}."
        )
    return document


def check_names(second: Document, first: Document, path: Path) -> None:
    """Check that a second scheduler, with the configuration in *path*, has none of the names of the *first*.

    Raises:
        UsageError: If both would schedule the same pods.
    """
    taken, own = _names(first), _names(second)
    if shared := sorted(taken & own):
        raise UsageError(
            f"the second scheduler of {path} has the name {', '.join(shared)} of the first one; set another "
            "schedulerName in each of its profiles."
        )


def _names(document: Document) -> set[str]:
    """Return the names of the profiles; without a profile, or a name, kube-scheduler uses the default one."""
    profiles = document.get("profiles")
    # the scheduler itself refuses other contents
    found = [each for each in profiles if isinstance(each, dict)] if isinstance(profiles, list) else []
    return {str(profile.get("schedulerName") or _DEFAULT_NAME) for profile in found or [{}]}


def complete_scheduler_config(document: Document, kubeconfig: Path, qps: int, burst: int) -> Document:
    """Return the configuration with the lab's kubeconfig and limits of requests, which flags set only without a file.

    The lab runs one scheduler, without an election; profiles on request only, without samples of every lock.
    """
    return {
        "enableContentionProfiling": False,
        **document,
        "clientConnection": {"kubeconfig": str(kubeconfig), "qps": qps, "burst": burst},
        "leaderElection": {"leaderElect": False},
    }
