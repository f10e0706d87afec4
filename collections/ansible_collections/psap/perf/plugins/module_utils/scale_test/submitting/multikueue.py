"""MultiKueue: queues of a manager cluster dispatch the workloads of a submission to worker clusters."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError, UsageError
from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.endpoint import ApiEndpoint
from ansible_collections.psap.perf.plugins.module_utils.scale_test.base.labels import Submission
from ansible_collections.psap.perf.plugins.module_utils.scale_test.base.waiting import wait_without_problem
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.api import MERGE_PATCH, ApiClient
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.kinds import ResourceKind, group_path
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitting.queues import (
    kueue_version,
    kueue_webhooks,
)
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitting.temporary_objects import (
    TemporaryObject,
    labels_of,
    temporary_objects,
)
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads.assortment import Tenant

# upstream's default
_NAMESPACE = "kueue-system"
_NAME = re.compile(r"[a-z0-9]([-a-z0-9]{0,40}[a-z0-9])?")
# Kueue's limit
_MOST_CLUSTERS = 20
_ACTIVE_WITHIN_S = 60.0
_REMOVED_WITHIN_S = 60.0

Check = Callable[[], None]


def check_clusters(clusters: Mapping[str, str], tenants: Sequence[Tenant]) -> None:
    """Check the names of worker *clusters*, and that the test creates the queues of all *tenants*.

    Raises:
        UsageError: If a name is invalid, or a tenant has no quota.
    """
    if len(clusters) > _MOST_CLUSTERS:
        raise UsageError(f"{len(clusters)} worker clusters are listed; Kueue accepts at most {_MOST_CLUSTERS}")
    for name in clusters:
        if not _NAME.fullmatch(name):
            raise UsageError(f"the cluster {name!r} needs a name of a-z, 0-9 and -, at most 42 of them")
    for tenant in tenants if clusters else ():
        if tenant.quota is None:
            raise UsageError(
                "worker clusters need a queue with a quota for each tenant, because the test creates the queues of "
                "all clusters"
            )


def quotas_of_manager(tenants: Sequence[Tenant], clusters: int) -> list[Tenant]:
    """Return *tenants* with the sum of their quotas in all worker *clusters*."""
    return [
        Tenant(each.namespace, each.queue, each.weight, (each.quota or 0) * clusters, each.cohort) for each in tenants
    ]


def kubeconfig_of(name: str, endpoint: ApiEndpoint) -> bytes:
    """Return a kubeconfig with one context, whose credentials are part of it, as Kueue requires.

    Raises:
        ClusterError: If Kueue cannot use the credentials.
    """
    if endpoint.insecure or endpoint.plugin is not None:
        why = "a credential plugin" if endpoint.plugin is not None else "insecure-skip-tls-verify"
        raise ClusterError(
            f"the kubeconfig of the cluster {name} uses {why}, which MultiKueue refuses; use the certificate authority "
            "of the server, and a client certificate or a token"
        )
    cluster = {
        "server": endpoint.server,
        "certificate-authority-data": _text(endpoint.certificate_authority),
        "tls-server-name": endpoint.server_name,
        "proxy-url": endpoint.proxy,
    }
    user = {
        "client-certificate-data": _text(endpoint.client_certificate),
        "client-key-data": _text(endpoint.client_key),
        "token": endpoint.current_token(),
    }
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": name, "cluster": _given(cluster)}],
        "users": [{"name": name, "user": _given(user)}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
        "current-context": name,
    }
    return json.dumps(document).encode()


def _text(content: bytes | None) -> str | None:
    return base64.b64encode(content).decode() if content else None


def _given(values: Mapping[str, str | None]) -> dict[str, str]:
    return {key: value for key, value in values.items() if value}


@asynccontextmanager
async def dispatching(
    client: ApiClient, submission: Submission, namespace: str, clusters: Mapping[str, ApiEndpoint], check: Check
) -> AsyncIterator[str]:
    """Make Kueue at the manager cluster use worker *clusters*; yield the name of the AdmissionCheck for its queues.

    All objects are deleted after the block, also after an error. The Secrets with the kubeconfigs belong to their
    MultiKueueClusters: Kubernetes deletes them with these, also after a kill.

    Args:
        namespace: The first namespace of the submission, by which the cleanup finds the objects after a kill.
        check: Raises if the user interrupts the run.

    Raises:
        ClusterError: If an object cannot be created, or Kueue does not reach a cluster.
    """
    kubeconfigs = {name: kubeconfig_of(name, endpoint) for name, endpoint in clusters.items()}
    own = _Dispatch(group_path(await kueue_version(client)), submission, labels_of(submission, namespace))
    secrets = f"/api/v1/namespaces/{await _namespace(client)}/secrets"
    async with temporary_objects(client, [own.cluster(name) for name in clusters]):
        uids = {name: (await _read(client, own.cluster(name).path))["metadata"]["uid"] for name in clusters}
        contents = [own.secret(secrets, name, uids[name], content) for name, content in kubeconfigs.items()]
        async with temporary_objects(client, [*contents, own.config(list(clusters)), own.admission_check()]):
            for name in clusters:
                await wait_active(client, own.cluster(name).path, f"MultiKueue's cluster {name}", check)
            yield submission.identity


async def wait_active(client: ApiClient, path: str, what: str, check: Check) -> None:
    """Wait until the object at *path* has the condition Active.

    Raises:
        ClusterError: If it has not in time; with Kueue's reason.
    """

    async def find_problem() -> str:
        check()
        status = (await _read(client, path)).get("status") or {}
        conditions = status.get("conditions") or ()
        active: dict[str, str] = next((each for each in conditions if each["type"] == "Active"), {})
        if active.get("status") == "True":
            return ""
        return active.get("message") or "Kueue reports no state; does it run with MultiKueue?"

    problem = await wait_without_problem(find_problem, _ACTIVE_WITHIN_S)
    if problem:
        raise ClusterError(f"{what} is not active after {_ACTIVE_WITHIN_S:g} s: {problem}")


async def remove_dispatched(
    client: ApiClient,
    workers: Mapping[str, ApiClient],
    submission: Submission,
    namespaces: Sequence[str],
    resources: Sequence[ResourceKind],
) -> None:
    """Let Kueue remove the submission's workloads from all *workers*: their queues at the manager are drained.

    Args:
        resources: The kinds of the workloads.

    Raises:
        ClusterError: If a queue cannot be drained, or workloads are left after a minute.
    """
    queues = f"{group_path(await kueue_version(client))}/clusterqueues"
    hold = json.dumps({"spec": {"stopPolicy": "HoldAndDrain"}}).encode()
    answer = await client.request("GET", queues, params={"labelSelector": submission.selector})
    for queue in answer.document().get("items") or ():
        path = f"{queues}/{queue['metadata']['name']}"
        held = await client.request("PATCH", path, body=hold, content_type=MERGE_PATCH)
        if not held.succeeded:
            raise ClusterError(f"cannot drain the ClusterQueue {queue['metadata']['name']}: {held.message()}")
    for name, worker in workers.items():
        base = group_path(await kueue_version(worker))
        find = partial(_left, worker, base, submission, namespaces, resources)
        left = await wait_without_problem(find, _REMOVED_WITHIN_S)
        if left:
            raise ClusterError(
                f"{left} of the submission is still at the cluster {name} after {_REMOVED_WITHIN_S:g} s: does Kueue "
                "run at the manager cluster? The cleanup deletes it"
            )


async def _left(
    worker: ApiClient, base: str, submission: Submission, namespaces: Sequence[str], resources: Sequence[ResourceKind]
) -> str:
    """Return an object of the submission at a worker cluster, whose Kueue's API is at *base*; empty without one."""
    for namespace in namespaces:
        for resource in resources:
            parameters = {"labelSelector": submission.selector, "limit": "1"}
            answer = await worker.request("GET", resource.collection(namespace), params=parameters)
            for item in answer.document().get("items") or ():
                return f"{resource.kind} {item['metadata']['name']}"
        # Kueue's own objects have no label of the submission
        workloads = f"{base}/namespaces/{namespace}/workloads"
        for item in (await worker.request("GET", workloads)).document().get("items") or ():
            if f"-{submission.identity}-" in item["metadata"]["name"]:
                return f"Workload {item['metadata']['name']}"
    return ""


async def _read(client: ApiClient, path: str) -> dict[str, Any]:
    answer = await client.request("GET", path)
    if not answer.succeeded:
        raise ClusterError(f"cannot read {path} of {client.endpoint.server}: {answer.message()}")
    return answer.document()


async def _namespace(client: ApiClient) -> str:
    """Return Kueue's namespace by its webhooks; a lab's have URLs instead of services, and upstream's namespace."""
    for webhook in await kueue_webhooks(client):
        service = webhook["clientConfig"].get("service")
        if service:
            return str(service["namespace"])
    return _NAMESPACE


class _Dispatch:
    """The objects of MultiKueue at the manager cluster."""

    def __init__(self, base: str, submission: Submission, labels: Mapping[str, str]) -> None:
        self._base = base
        self._own = submission.identity
        self._labels = labels

    def cluster(self, name: str) -> TemporaryObject:
        source = {"kubeConfig": {"location": self._named(name), "locationType": "Secret"}}
        spec = source if self._base.endswith("/v1beta1") else {"clusterSource": source}
        return self._object("multikueueclusters", "MultiKueueCluster", self._named(name), spec)

    def config(self, names: Sequence[str]) -> TemporaryObject:
        spec = {"clusters": [self._named(name) for name in names]}
        return self._object("multikueueconfigs", "MultiKueueConfig", self._own, spec)

    def admission_check(self) -> TemporaryObject:
        parameters = {"apiGroup": "kueue.x-k8s.io", "kind": "MultiKueueConfig", "name": self._own}
        spec = {"controllerName": "kueue.x-k8s.io/multikueue", "parameters": parameters}
        return self._object("admissionchecks", "AdmissionCheck", self._own, spec)

    def secret(self, collection: str, name: str, owner: str, kubeconfig: bytes) -> TemporaryObject:
        version = self._base.removeprefix("/apis/")
        reference = {"apiVersion": version, "kind": "MultiKueueCluster", "name": self._named(name), "uid": owner}
        metadata = {"name": self._named(name), "labels": dict(self._labels), "ownerReferences": [reference]}
        data = {"kubeconfig": base64.b64encode(kubeconfig).decode()}
        return TemporaryObject(
            collection, {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "type": "Opaque", "data": data}
        )

    def _named(self, name: str) -> str:
        return f"{self._own}-{name}"

    def _object(self, plural: str, kind: str, name: str, spec: Mapping[str, Any]) -> TemporaryObject:
        return TemporaryObject.with_spec(f"{self._base}/{plural}", kind, name, self._labels, spec)
