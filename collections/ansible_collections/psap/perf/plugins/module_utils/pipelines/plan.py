"""What a command that runs a notebook of pipelines uses: the application, its API, the image and the runs."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError, UsageError
from ansible_collections.psap.perf.plugins.module_utils.kube_api.manifests import Manifest

_HTTP_PORT = 8888
_NUMBER = re.compile(r"(\d+)")
# names of objects and runs are made of it
_NAME = re.compile(r"[a-z]([-a-z0-9]{0,37}[a-z0-9])?")


def application_name(applications: Sequence[Manifest], wanted: str, namespace: str) -> str:
    """Return the name of the application, by default of the first one.

    Raises:
        ClusterError: If it does not exist.
    """
    names = sorted(str(each["metadata"]["name"]) for each in applications)
    if not names:
        raise ClusterError(
            f"namespace {namespace} has no DataSciencePipelinesApplication; deploy one with pipelines "
            "deploy-application"
        )
    if wanted and wanted not in names:
        raise ClusterError(
            f"DataSciencePipelinesApplication {namespace}/{wanted} does not exist; the namespace has {', '.join(names)}"
        )
    return wanted or names[0]


def service_name(application: str) -> str:
    """Return the name of the Service and the Route of the application's API."""
    return f"ds-pipeline-{application}"


def api_url(application: str, namespace: str, route: Manifest | None, service: Manifest | None) -> str:
    """Return the URL of the application's API for pods.

    Raises:
        ClusterError: If it has neither a Route nor a Service.
    """
    name = service_name(application)
    spec: Mapping[str, Any] = (route or {}).get("spec") or {}
    if spec.get("host"):
        return f"{'https' if spec.get('tls') else 'http'}://{spec['host']}"
    if service is None:
        raise ClusterError(
            f"DataSciencePipelinesApplication {namespace}/{application} has neither Route nor Service {name}; "
            "check its conditions"
        )
    ports = [int(port["port"]) for port in service["spec"].get("ports") or ()]
    port = _HTTP_PORT if _HTTP_PORT in ports or not ports else ports[0]
    return f"http://{name}.{namespace}.svc.cluster.local:{port}"


def notebook_image(stream: Manifest | None, name: str, tag: str) -> str:
    """Return the image of a tag of an ImageStream, by default of its highest tag.

    Raises:
        ClusterError: If the ImageStream or the tag does not exist.
    """
    if stream is None:
        raise ClusterError(f"ImageStream {name} does not exist; pass another imagestream, or an image")
    tags: list[Mapping[str, Any]] = list((stream.get("status") or {}).get("tags") or ())
    images = {str(each["tag"]): str(each["items"][0]["dockerImageReference"]) for each in tags if each.get("items")}
    if not images:
        raise ClusterError(f"ImageStream {name} has no imported tag; check its conditions")
    chosen = tag or max(images, key=_version)
    if chosen not in images:
        raise ClusterError(f"ImageStream {name} has no tag {chosen}; it has {', '.join(sorted(images, key=_version))}")
    return images[chosen]


def _version(tag: str) -> list[tuple[int, int, str]]:
    """Return a key that sorts numbers in tags by their value, before letters: 1.9 < 1.10, 2024.2 < latest."""
    parts = [part for part in _NUMBER.split(tag) if part]
    return [(0, int(part), "") if part.isdigit() else (1, 0, part) for part in parts]


def run_names(prefix: str, unique: str, first: int, count: int) -> tuple[str, ...]:
    """Return the names of *count* runs, whose numbers begin with *first*.

    Args:
        unique: Text that distinguishes them from runs of other executions.

    Raises:
        UsageError: If *prefix* is no name.
    """
    if not _NAME.fullmatch(prefix):
        raise UsageError(
            f"invalid notebook_name {prefix}: use at most 39 lower-case letters, digits and hyphens, and begin with a "
            "letter"
        )
    return tuple(f"{prefix}-{unique}-run{number}" for number in range(first, first + count))
