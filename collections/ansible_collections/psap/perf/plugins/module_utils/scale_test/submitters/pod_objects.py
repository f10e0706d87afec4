"""The objects of submitter pods: the pods, and the account whose rights are those of a submitter."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.scale_test.base.labels import (
    MANAGED_BY,
    MANAGER,
    NAMESPACE,
    RUN,
    SUBMITTERS,
    Submission,
)
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.kinds import ResourceKind
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitting.temporary_objects import TemporaryObject

CONTAINER = "submitter"
_ACCESS = "rbac.authorization.k8s.io"
# a submitter creates workloads, and reads those that exist already
_VERBS = ["create", "get"]


@dataclass(frozen=True, slots=True)
class PodSettings:
    """The properties of submitter pods.

    Attributes:
        run_as_user: User ID; 0 for one that the cluster assigns.
        ready_within_s: Time limit until all pods run.
        longest_s: Time after which Kubernetes ends a pod that a killed run has left.
    """

    image: str
    node_selector: Mapping[str, str]
    tolerations: Sequence[Mapping[str, Any]]
    run_as_user: int
    ready_within_s: float
    longest_s: float


@dataclass(frozen=True, slots=True)
class PodObjects:
    """The objects of the pods of one submission; pods and account are in the first of *namespaces*."""

    submission: Submission
    namespaces: Sequence[str]
    resources: Sequence[ResourceKind]
    settings: PodSettings

    @property
    def namespace(self) -> str:
        """The namespace of the pods."""
        return self.namespaces[0]

    @property
    def pods_path(self) -> str:
        """The API's path of pods."""
        return f"/api/v1/namespaces/{self.namespace}/pods"

    def pod_name(self, number: int) -> str:
        """Return the name of the pod of a submitter."""
        return f"{self._name}-{number:02d}"

    def account(self) -> Iterable[TemporaryObject]:
        """Return the account, and its rights in each namespace."""
        accounts = f"/api/v1/namespaces/{self.namespace}/serviceaccounts"
        yield TemporaryObject(accounts, self._object("v1", "ServiceAccount", self._name, {}))
        subject = {"kind": "ServiceAccount", "name": self._name, "namespace": self.namespace}
        reference = {"apiGroup": _ACCESS, "kind": "Role", "name": self._name}
        for namespace in self.namespaces:
            path = f"/apis/{_ACCESS}/v1/namespaces/{namespace}"
            role = {"rules": [_rule(resource) for resource in self.resources]}
            yield TemporaryObject(f"{path}/roles", self._object(f"{_ACCESS}/v1", "Role", self._name, role))
            binding = {"roleRef": reference, "subjects": [subject]}
            bound = self._object(f"{_ACCESS}/v1", "RoleBinding", self._name, binding)
            yield TemporaryObject(f"{path}/rolebindings", bound)

    def pods(self, count: int) -> Iterable[TemporaryObject]:
        """Return the pods, whose container waits until the coordinator starts a submitter in it."""
        for number in range(count):
            pod = self._object("v1", "Pod", self.pod_name(number), {"spec": self._pod_spec()})
            yield TemporaryObject(self.pods_path, pod)

    @property
    def _name(self) -> str:
        return f"{self.submission.identity}-submitter"

    def _object(self, api_version: str, kind: str, name: str, content: Mapping[str, Any]) -> dict[str, Any]:
        # not the label of the submission: the recorder would take a pod for one of a workload
        labels = {
            RUN: self.submission.run,
            SUBMITTERS: self.submission.identity,
            NAMESPACE: self.namespace,
            MANAGED_BY: MANAGER,
        }
        return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name, "labels": labels}, **content}

    def _pod_spec(self) -> dict[str, Any]:
        settings = self.settings
        user = {"runAsUser": settings.run_as_user} if settings.run_as_user else {}
        return {
            "serviceAccountName": self._name,
            "restartPolicy": "Never",
            "terminationGracePeriodSeconds": 0,
            "activeDeadlineSeconds": int(settings.longest_s) + 1,
            "nodeSelector": dict(settings.node_selector),
            "tolerations": list(settings.tolerations),
            "securityContext": {"runAsNonRoot": True, **user, "seccompProfile": {"type": "RuntimeDefault"}},
            "volumes": [{"name": "scratch", "emptyDir": {}}],
            "containers": [
                {
                    "name": CONTAINER,
                    "image": settings.image,
                    "command": ["sleep", str(int(settings.longest_s) + 1)],
                    "env": [{"name": "TMPDIR", "value": "/scratch"}, {"name": "HOME", "value": "/scratch"}],
                    "volumeMounts": [{"name": "scratch", "mountPath": "/scratch"}],
                    "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
                    "resources": {"requests": {"cpu": "250m", "memory": "128Mi"}},
                }
            ],
        }


def _rule(resource: ResourceKind) -> dict[str, Any]:
    group = resource.api_version.partition("/")[0] if "/" in resource.api_version else ""
    return {"apiGroups": [group], "resources": [resource.plural], "verbs": _VERBS}
