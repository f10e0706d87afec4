"""The Template from which OpenShift makes new projects: annotations put into it and taken out of it."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.cluster import Manifest
from ansible_collections.psap.perf.plugins.module_utils.errors import ClusterError

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
    """What is to be done: the Template as it is to be, None when there need be none; whose it is; its name."""

    template: Manifest | None
    is_own: bool
    name: str


def change_for(configured: str | None, templates: Iterable[Manifest], key: str, value: str | None) -> Change:
    """What gives new projects the annotation, or takes it from them when *value* is None.

    :param configured: the name that the cluster's configuration gives the Template, None when it gives none.
    :param templates: those of the namespace C(openshift-config).
    :raises ClusterError: when the configured Template is not there, or makes no Project.
    """
    by_name = {template["metadata"]["name"]: template for template in templates}
    if configured and configured not in by_name:
        raise ClusterError(
            f"the configuration of projects names the Template {configured}, which is not in {NAMESPACE}; make it, or "
            "remove spec.projectRequestTemplate from project.config.openshift.io cluster"
        )
    present = by_name.get(configured or OWN_NAME)
    is_own = present is None or (present["metadata"].get("labels") or {}).items() >= _OWN_LABELS.items()
    template = with_annotation(present or bootstrap(), key, value)
    needless = is_own and template["objects"] == bootstrap()["objects"]
    return Change(None if needless else template, is_own, configured or OWN_NAME)


def with_annotation(template: Manifest, key: str, value: str | None) -> Manifest:
    """*template* with this annotation on its Project, or without it."""
    changed = copy.deepcopy(template)
    projects = [each for each in changed.get("objects") or () if each.get("kind") == "Project"]
    if len(projects) != 1:
        raise ClusterError(f"the Template {template['metadata']['name']} makes {len(projects)} Projects instead of one")
    annotations = projects[0]["metadata"].setdefault("annotations", {})
    if value is None:
        annotations.pop(key, None)
    else:
        # a dollar sign in braces would be a parameter of the template
        annotations[key] = value
    return changed


def bootstrap() -> Manifest:
    """The Template of which OpenShift makes projects when none is configured."""
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
