"""A hub in memory: a claim gets the only cluster of a pool immediately; any call may be a killed process's last."""

from __future__ import annotations

import base64
import copy
import itertools
from collections.abc import Callable, Iterator
from typing import Any, TypeVar, cast

from ansible_collections.psap.perf.plugins.module_utils.kube_api.api_errors import ConflictError
from ansible_collections.psap.perf.plugins.module_utils.kube_api.client import Cluster
from ansible_collections.psap.perf.plugins.module_utils.kube_api.manifests import Manifest
from ansible_collections.psap.perf.plugins.module_utils.kube_api.query import Query

T = TypeVar("T")
ASSIGNED = "2026-11-25T08:00:00Z"


class Killed(BaseException):
    """The process is killed."""


class Hub:
    """The cluster functions that module_utils/provisioning/hive.py calls.

    Attributes:
        becomes: changes a claim whenever it is read.
        die_at: the number of the call that kills the process, and whether the hub has acted by then.
    """

    server = "https://hub.invalid"

    def __init__(self, becomes: Callable[[Hub, Manifest], None] | None = None) -> None:
        self.objects: dict[tuple[str, str, str], Manifest] = {}
        self.becomes = becomes or (lambda hub, claim: hub.runs(claim))
        self.die_at: tuple[int, bool] | None = None
        self.calls = 0
        self.put("ClusterPool", "hive", "small", spec={"size": 1, "maxSize": 1}, status={"ready": 0, "standby": 0})
        self.put(
            "ClusterDeployment",
            "small-0",
            "small-0",
            spec={
                "clusterMetadata": {
                    "adminKubeconfigSecretRef": {"name": "access"},
                    "adminPasswordSecretRef": {"name": "password"},
                }
            },
            status={"apiURL": "https://api.small-0", "webConsoleURL": "https://console.small-0", "conditions": []},
        )
        self.put("Secret", "small-0", "access", data={"kubeconfig": base64.b64encode(b"the kubeconfig").decode()})

    def cluster(self) -> Cluster:
        """Return the hub, typed as a cluster."""
        return cast(Cluster, self)

    def put(self, kind: str, namespace: str, name: str, **rest: Any) -> Manifest:
        """Store an object."""
        document = {"kind": kind, "metadata": {"name": name, "namespace": namespace, "uid": f"{kind}/{name}"}, **rest}
        self.objects[kind, namespace, name] = document
        return document

    def claims(self) -> list[Manifest]:
        """Return the existing claims."""
        return [each for (kind, _namespace, _name), each in self.objects.items() if kind == "ClusterClaim"]

    def runs(self, claim: Manifest, lifetime: str = "1h0m0s") -> None:
        """Give the claim the running cluster."""
        claim["spec"]["namespace"] = "small-0"
        claim["status"] = {
            "lifetime": lifetime,
            "conditions": [
                {"type": "Pending", "status": "False", "reason": "ClusterClaimed", "lastTransitionTime": ASSIGNED},
                {"type": "ClusterRunning", "status": "True", "reason": "Running"},
            ],
        }

    def serves(self, _api_version: str, _kind: str) -> bool:
        return self._called(lambda: True)

    def get(self, query: Query) -> Manifest | None:
        return self._called(lambda: copy.deepcopy(self.objects.get(self._key(query))))

    def list(self, query: Query) -> tuple[list[Manifest], str]:
        def listed() -> tuple[list[Manifest], str]:
            if query.kind == "ClusterClaim":
                for claim in self.claims():
                    self.becomes(self, claim)
            found = (self.objects.get(self._key(query)),) if query.name else tuple(self._in(query))
            return [copy.deepcopy(each) for each in found if each], "1"

        # Another thread makes this request, so a kill does not end the process here.
        return listed()

    def watch(self, _query: Query, _version: str, _timeout_s: int) -> Iterator[tuple[str, Manifest]]:
        return iter(())

    def create(self, manifest: Manifest) -> Manifest:
        def created() -> Manifest:
            metadata, kind = manifest["metadata"], manifest["kind"]
            if (kind, metadata["namespace"], metadata["name"]) in self.objects:
                raise ConflictError("it is there")
            document = self.put(kind, metadata["namespace"], metadata["name"], spec=dict(manifest["spec"]))
            document["metadata"]["annotations"] = metadata["annotations"]
            return document

        return self._called(created)

    def delete(self, query: Query) -> bool:
        return self._called(lambda: self.objects.pop(self._key(query), None) is not None)

    def _in(self, query: Query) -> Iterator[Manifest]:
        return (each for key, each in self.objects.items() if key[:2] == (query.kind, query.namespace))

    def _key(self, query: Query) -> tuple[str, str, str]:
        return query.kind, query.namespace or "", query.name or ""

    def _called(self, act: Callable[[], T]) -> T:
        self.calls += 1
        number, acted = self.die_at or (0, False)
        if number == self.calls and not acted:
            raise Killed
        answer = act()
        if number == self.calls:
            raise Killed
        return answer


def kill_points(calls: int) -> Iterator[tuple[int, bool]]:
    """Yield each call, with and without an action of the hub."""
    return itertools.product(range(1, calls + 1), (False, True))
