"""A ProjectRequest becomes a Namespace, as the project template of the configuration says."""

from __future__ import annotations

import math

from perflab.cluster.api import Document
from perflab.emulators.framework.cluster import Cluster
from perflab.emulators.framework.controller import Controller
from perflab.emulators.framework.resources import (
    NAMESPACES,
    PROJECT_CONFIGURATIONS,
    PROJECT_REQUESTS,
    TEMPLATES,
    Resource,
)
from perflab.emulators.framework.store import Key
from perflab.emulators.openshift.platform.templates import instantiate

_CONFIGURATION: Key = ("", "cluster")
_NAMESPACE = "openshift-config"
_REQUESTER = "system:admin"
# besides the Project, what project templates have
_KINDS = {
    each.kind: each
    for each in (
        Resource("rbac.authorization.k8s.io", "v1", "rolebindings", "RoleBinding"),
        Resource("", "v1", "limitranges", "LimitRange"),
        Resource("", "v1", "resourcequotas", "ResourceQuota"),
        Resource("networking.k8s.io", "v1", "networkpolicies", "NetworkPolicy"),
    )
}


class Requests:
    """Serves each request once; it is gone then, whether it succeeded or not."""

    def __init__(self, cluster: Cluster) -> None:
        """Over the requests, the configuration of projects and the templates."""
        self._cluster = cluster
        self._requests = cluster.store(PROJECT_REQUESTS)
        self._configurations = cluster.store(PROJECT_CONFIGURATIONS)
        self._templates = cluster.store(TEMPLATES)
        self.controller = Controller("project request", self._reconcile)
        self.controller.follow(self._requests)
        cluster.steps.listen(self.controller.enqueue_all)

    async def _reconcile(self, key: Key) -> float | None:
        request = self._requests.get(key)
        if request is None:
            return None
        wait_s = self._cluster.steps.wait_s("project", request)
        if wait_s > 0:
            return wait_s if wait_s < math.inf else None
        failure = self._cluster.steps.failure("project", request) or await self._serve(request)
        if failure:
            await self._cluster.event(PROJECT_REQUESTS, request, "ProjectRequestFailed", failure, "Warning")
        await self._requests.delete(key)
        return None

    async def _serve(self, request: Document) -> str | None:
        """Make the Namespace and what the template has beside it; the text of a failure, None when all is made."""
        objects, failure = self._objects(request)
        if failure:
            return failure
        project, *others = objects
        namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": project["metadata"]}
        if await self._cluster.api.create(NAMESPACES.path(), namespace) is None:
            return f'project.project.openshift.io "{request["metadata"]["name"]}" already exists'
        for document in others:
            path = _KINDS[document["kind"]].path(request["metadata"]["name"])
            await self._cluster.api.create(path, document)
        return None

    def _objects(self, request: Document) -> tuple[list[Document], str | None]:
        parameters = {
            "PROJECT_NAME": request["metadata"]["name"],
            "PROJECT_DISPLAYNAME": request.get("displayName", ""),
            "PROJECT_DESCRIPTION": request.get("description", ""),
            "PROJECT_ADMIN_USER": _REQUESTER,
            "PROJECT_REQUESTING_USER": _REQUESTER,
        }
        spec = (self._configurations.get(_CONFIGURATION) or {}).get("spec") or {}
        name = (spec.get("projectRequestTemplate") or {}).get("name")
        template = self._templates.get((_NAMESPACE, name)) if name else {"objects": [_default(parameters)]}
        if template is None:
            return [], f'template.template.openshift.io "{name}" not found'
        return sorted_objects(instantiate(template, parameters))


def _default(parameters: dict[str, str]) -> Document:
    annotations = {
        "openshift.io/description": parameters["PROJECT_DESCRIPTION"],
        "openshift.io/display-name": parameters["PROJECT_DISPLAYNAME"],
        "openshift.io/requester": parameters["PROJECT_REQUESTING_USER"],
    }
    return {"kind": "Project", "metadata": {"name": parameters["PROJECT_NAME"], "annotations": annotations}}


def sorted_objects(objects: list[Document]) -> tuple[list[Document], str | None]:
    """The Project of a template and then its other objects; or none, and what is wrong with them."""
    projects = [each for each in objects if each["kind"] == "Project"]
    others = [each for each in objects if each["kind"] != "Project"]
    unknown = sorted({each["kind"] for each in others} - _KINDS.keys())
    if len(projects) != 1:
        return [], f"the project template has {len(projects)} Projects instead of one"
    if unknown:
        return [], f"the lab makes no {', '.join(unknown)} from a project template"
    return [*projects, *others], None
