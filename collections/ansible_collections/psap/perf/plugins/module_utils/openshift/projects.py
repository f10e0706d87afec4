"""Projects of OpenShift: the Template of new projects, a test of it, and the user ids of their pods."""

from __future__ import annotations

import copy
import secrets
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError, WaitTimeoutError
from ansible_collections.psap.perf.plugins.module_utils.kube_api.manifests import Manifest
from ansible_collections.psap.perf.plugins.module_utils.kube_api.query import Query

NAMESPACE = "openshift-config"
OWN_NAME = "project-request"
_OWN_LABELS = {"app.kubernetes.io/managed-by": "psap.perf"}
_PARAMETERS = (
    "PROJECT_NAME",
    "PROJECT_DISPLAYNAME",
    "PROJECT_DESCRIPTION",
    "PROJECT_ADMIN_USER",
    "PROJECT_REQUESTING_USER",
)


@dataclass(frozen=True, slots=True)
class Change:
    """The new state of the Template, None if it is not needed; whether psap.perf owns it; its name."""

    template: Manifest | None
    is_own: bool
    name: str


def change_for(configured: str | None, templates: Iterable[Manifest], key: str, value: str | None) -> Change:
    """Return the change that adds the annotation to new projects, or removes it if *value* is None.

    Args:
        configured: Name of the Template in the cluster's configuration, if any.
        templates: The Templates of the namespace ``openshift-config``.

    Raises:
        ClusterError: If the configured Template is missing, or creates no Project.
    """
    by_name = {template["metadata"]["name"]: template for template in templates}
    if configured and configured not in by_name:
        raise ClusterError(
            f"the configuration of projects names the Template {configured}, which is not in {NAMESPACE}; create it, "
            "or remove spec.projectRequestTemplate from project.config.openshift.io cluster"
        )
    present = by_name.get(configured or OWN_NAME)
    is_own = present is None or (present["metadata"].get("labels") or {}).items() >= _OWN_LABELS.items()
    template = with_annotation(present or bootstrap(), key, value)
    needless = is_own and template["objects"] == bootstrap()["objects"]
    return Change(None if needless else template, is_own, configured or OWN_NAME)


def with_annotation(template: Manifest, key: str, value: str | None) -> Manifest:
    """Return a copy of *template* with this annotation on its Project, or without it if *value* is None."""
    changed = copy.deepcopy(template)
    projects = [each for each in changed.get("objects") or () if each.get("kind") == "Project"]
    if len(projects) != 1:
        raise ClusterError(f"the Template {template['metadata']['name']} makes {len(projects)} Projects instead of one")
    annotations = projects[0]["metadata"].setdefault("annotations", {})
    if value is None:
        annotations.pop(key, None)
    else:
        # OpenShift would replace ${NAME} in the value by a parameter of the template
        annotations[key] = value
    return changed


def bootstrap() -> Manifest:
    """Return the Template that OpenShift uses for projects if none is configured."""
    project: dict[str, Any] = {
        "apiVersion": "project.openshift.io/v1",
        "kind": "Project",
        "metadata": {
            "annotations": {
                "openshift.io/description": "${PROJECT_DESCRIPTION}",
                "openshift.io/display-name": "${PROJECT_DISPLAYNAME}",
                "openshift.io/requester": "${PROJECT_REQUESTING_USER}",
            },
            "name": "${PROJECT_NAME}",
        },
    }
    binding: dict[str, Any] = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "RoleBinding",
        "metadata": {"name": "admin", "namespace": "${PROJECT_NAME}"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "admin"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "${PROJECT_ADMIN_USER}"}],
    }
    return {
        "apiVersion": "template.openshift.io/v1",
        "kind": "Template",
        "metadata": {"name": OWN_NAME, "namespace": NAMESPACE},
        "objects": [project, binding],
        "parameters": [{"name": name} for name in _PARAMETERS],
    }


PREFIX = "psap-perf-trial-"
_POLL_S = 0.1
_BETWEEN_TRIALS_S = 2.0
# OpenShift responds after the project was created; the lab slightly before
_APPEARS_WITHIN_S = 10.0


class Source(Protocol):
    """The methods of a cluster that are used."""

    def create(self, manifest: Manifest) -> Manifest:
        """Create an object."""

    def get(self, query: Query) -> Manifest | None:
        """Return an object; None if it is missing."""

    def merge(self, query: Query, patch: Manifest) -> Manifest:
        """Merge a patch into an object."""

    def delete(self, query: Query) -> bool:
        """Delete an object, and return whether it existed."""


@dataclass(frozen=True, slots=True)
class Trial:
    """The annotation that new projects must have.

    Args:
        key: The annotation.
        value: Its value; None if the annotation must be missing.
        timeout_s: How long to try.
        labels: Labels of each project, by which a sweep finds projects of a killed verb.
    """

    key: str
    value: str | None
    timeout_s: float
    labels: Mapping[str, str]


def try_until(source: Source, trial: Trial, check: Callable[[], None]) -> int:
    """Create projects until one has the annotation, and delete each.

    Args:
        source: The cluster.
        trial: The annotation.
        check: Raises if the user asked the run to stop.

    Returns:
        How many projects it took.

    Raises:
        WaitTimeoutError: If no project has it in time.
    """
    deadline = time.monotonic() + trial.timeout_s
    number = 0
    while True:
        check()
        number += 1
        seen = _create_project(source, trial, check)
        if seen == trial.value:
            return number
        if time.monotonic() >= deadline:
            raise WaitTimeoutError(
                f"new projects do not follow their template within {trial.timeout_s:g} s: {trial.key} is {seen!r} "
                f"instead of {trial.value!r}; check the ClusterOperator openshift-apiserver"
            )
        time.sleep(_BETWEEN_TRIALS_S)


def _create_project(source: Source, trial: Trial, check: Callable[[], None]) -> str | None:
    name = f"{PREFIX}{secrets.token_hex(4)}"
    namespace = Query("v1", "Namespace", name=name)
    request = {"apiVersion": "project.openshift.io/v1", "kind": "ProjectRequest", "metadata": {"name": name}}
    source.create(request)
    try:
        made = _wait_namespace(source, namespace, min(_APPEARS_WITHIN_S, trial.timeout_s), check)
        # a request has no labels
        source.merge(namespace, {"metadata": {"labels": dict(trial.labels)}})
    finally:
        source.delete(namespace)
    annotations = made["metadata"].get("annotations") or {}
    found = annotations.get(trial.key)
    return None if found is None else str(found)


def _wait_namespace(source: Source, namespace: Query, within_s: float, check: Callable[[], None]) -> Manifest:
    deadline = time.monotonic() + within_s
    while True:
        check()
        found = source.get(namespace)
        if found is not None:
            return found
        if time.monotonic() >= deadline:
            raise WaitTimeoutError(f"a project that was requested is not there after {within_s:g} s: {namespace.name}")
        time.sleep(_POLL_S)


# namespaces for which OpenShift does not apply security context constraints
_PRIVILEGED = frozenset(("default", "kube-node-lease", "kube-public", "kube-system"))
_PRIVILEGED |= {"openshift", "openshift-infra", "openshift-node"}
_RUN_LEVEL = "openshift.io/run-level"


def assigned(name: str, namespace: Mapping[str, Any] | None) -> bool:
    """Return whether OpenShift assigns user ids to pods of the namespace *name* that request none.

    Args:
        namespace: The object; None if it will be created as an ordinary namespace.
    """
    labels = ((namespace or {}).get("metadata") or {}).get("labels") or {}
    return name not in _PRIVILEGED and labels.get(_RUN_LEVEL) not in ("0", "1")
