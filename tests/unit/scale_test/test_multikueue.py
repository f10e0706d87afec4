"""MultiKueue: its objects at the manager cluster, the kubeconfigs, and the end of dispatched workloads."""

from __future__ import annotations

import asyncio
import base64
import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError, Interrupted, UsageError
from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.endpoint import ApiEndpoint, load_endpoint
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.api import ApiClient
from ansible_collections.psap.perf.plugins.module_utils.scale_test.session.clusters import WorkerClusters
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitting import multikueue
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitting.multikueue import (
    check_clusters,
    dispatching,
    kubeconfig_of,
    quotas_of_manager,
    remove_dispatched,
)
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitting.queues import WEBHOOKS, queues
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads.assortment import Tenant

from tests.data.loads import load

from .fake_api import KUEUE, SECRETS, FakeApi, fake_api
from .sessions import JOB, JOBS, SUBMISSION

OWN = SUBMISSION.identity
V2 = f"{KUEUE}/v1beta2"
EAST = ApiEndpoint("https://east:6443", certificate_authority=b"authority", token="secret-token")
TENANT = Tenant("test", "gold", quota=4)
Objects = dict[str, dict[str, Any]]


def never() -> None:
    """Let the run continue."""


def dispatched(
    api: FakeApi, error: Exception | None = None, clusters: dict[str, ApiEndpoint] | None = None
) -> tuple[Objects, Objects]:
    """Return the objects at the manager inside the block, and after it."""

    async def scene() -> tuple[Objects, Objects]:
        during: Objects = {}
        async with fake_api(api), ApiClient(ApiEndpoint(api.server)) as client:
            with suppress(RuntimeError):
                async with dispatching(client, SUBMISSION, "test", clusters or {"east": EAST}, never) as check:
                    assert check == OWN
                    during = dict(api.kueue or {})
                    if error is not None:
                        raise error
        return during, dict(api.kueue or {})

    return asyncio.run(scene())


def with_kueue(*versions: str) -> FakeApi:
    api = FakeApi()
    api.kueue, api.kueue_versions = {}, list(versions or ("v1beta2", "v1beta1"))
    return api


@pytest.mark.parametrize("error", [None, RuntimeError("of the session")])
def test_clusters_exist_only_during_the_block(error: Exception | None) -> None:
    during, after = dispatched(with_kueue(), error, {"east": EAST, "west": ApiEndpoint("https://west", token="t")})
    assert after == {}
    assert list(during) == [
        *(f"{V2}/multikueueclusters/{OWN}-{name}" for name in ("east", "west")),
        *(f"{SECRETS}/{OWN}-{name}" for name in ("east", "west")),
        f"{V2}/multikueueconfigs/{OWN}",
        f"{V2}/admissionchecks/{OWN}",
    ]
    assert during[f"{V2}/multikueueconfigs/{OWN}"]["spec"] == {"clusters": [f"{OWN}-east", f"{OWN}-west"]}
    check = during[f"{V2}/admissionchecks/{OWN}"]
    assert check["spec"]["parameters"] == {"apiGroup": "kueue.x-k8s.io", "kind": "MultiKueueConfig", "name": OWN}
    assert check["metadata"]["labels"]["psap.perf/namespace"] == "test"


def test_secret_belongs_to_its_cluster_and_has_the_kubeconfig() -> None:
    during, _after = dispatched(with_kueue())
    secret = during[f"{SECRETS}/{OWN}-east"]
    (owner,) = secret["metadata"]["ownerReferences"]
    assert (owner["kind"], owner["name"], owner["uid"]) == ("MultiKueueCluster", f"{OWN}-east", f"uid-of-{OWN}-east")
    assert base64.b64decode(secret["data"]["kubeconfig"]) == kubeconfig_of("east", EAST)


@pytest.mark.parametrize(
    ("version", "source"),
    [("v1beta1", ("kubeConfig",)), ("v1beta2", ("clusterSource", "kubeConfig"))],
)
def test_cluster_has_the_fields_of_the_servers_version(version: str, source: tuple[str, ...]) -> None:
    during, _after = dispatched(with_kueue(version))
    found: Any = during[f"{KUEUE}/{version}/multikueueclusters/{OWN}-east"]["spec"]
    for name in source:
        found = found[name]
    assert found == {"location": f"{OWN}-east", "locationType": "Secret"}


def test_namespace_of_kueue_is_that_of_its_webhooks() -> None:
    api = with_kueue()
    service = {"clientConfig": {"service": {"namespace": "elsewhere", "name": "webhook"}}}
    items = [{"metadata": {"name": "kueue-mutating"}, "webhooks": [service]}]
    api.pages_of_metrics[WEBHOOKS] = json.dumps({"items": items})
    with pytest.raises(ClusterError, match=f"cannot create the Secret {OWN}-east"):
        dispatched(api)
    assert api.kueue == {}


def test_unreachable_cluster_is_reported_with_kueues_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(multikueue, "_ACTIVE_WITHIN_S", 0.0)
    api = with_kueue()
    api.connected = {"type": "Active", "status": "False", "message": "connection refused"}
    with pytest.raises(ClusterError, match="MultiKueue's cluster east is not active after 0 s: connection refused"):
        dispatched(api)
    assert api.kueue == {}


def test_interruption_ends_the_wait_for_a_cluster() -> None:
    api = with_kueue()
    api.connected = {"type": "Active", "status": "False"}

    def interrupted() -> None:
        raise Interrupted("interrupted")

    async def scene() -> None:
        async with (
            fake_api(api),
            ApiClient(ApiEndpoint(api.server)) as client,
            dispatching(client, SUBMISSION, "test", {"east": EAST}, interrupted),
        ):
            pass

    with pytest.raises(Interrupted):
        asyncio.run(scene())
    assert api.kueue == {}


def test_kubeconfig_contains_its_credentials(tmp_path: Path) -> None:
    endpoint = ApiEndpoint(
        "https://[::1]:6443", b"authority", server_name="inner", client_certificate=b"mine", client_key=b"key"
    )
    path = tmp_path / "kubeconfig"
    path.write_bytes(kubeconfig_of("east", endpoint))
    assert load_endpoint(str(path)) == endpoint


def test_kubeconfig_that_kueue_refuses_is_refused() -> None:
    with pytest.raises(ClusterError, match="the kubeconfig of the cluster east uses insecure-skip-tls-verify"):
        kubeconfig_of("east", ApiEndpoint("https://east", insecure=True))


def test_workloads_are_removed_by_draining_their_queues() -> None:
    manager, worker = with_kueue(), with_kueue()
    remote = {f"{V2}/namespaces/test/workloads/job-{OWN}-00000-ab": {"metadata": {"name": f"job-{OWN}-00000-ab"}}}
    worker.kueue = {**remote, f"{V2}/namespaces/test/workloads/other": {"metadata": {"name": "other"}}}

    async def scene() -> dict[str, Any]:
        async with (
            fake_api(manager),
            fake_api(worker),
            ApiClient(ApiEndpoint(manager.server)) as client,
            ApiClient(ApiEndpoint(worker.server)) as remote_client,
            queues(client, SUBMISSION, [TENANT], [JOB], admission_check="dispatch"),
        ):
            await worker.create(JOBS, {"metadata": {"name": SUBMISSION.name(0)}})
            removing = asyncio.create_task(
                remove_dispatched(client, {"east": remote_client}, SUBMISSION, ["test"], [JOB])
            )
            spec: dict[str, Any] = (manager.kueue or {})[f"{V2}/clusterqueues/{OWN}-0"]["spec"]
            while "stopPolicy" not in spec:
                await asyncio.sleep(0.01)
            await worker.delete(JOBS, SUBMISSION.name(0))
            assert not removing.done()
            (worker.kueue or {}).pop(next(iter(remote)))
            await removing
            return spec

    spec = asyncio.run(scene())
    assert spec["stopPolicy"] == "HoldAndDrain"
    assert spec["admissionChecksStrategy"] == {"admissionChecks": [{"name": "dispatch"}]}


def test_workload_left_at_a_cluster_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(multikueue, "_REMOVED_WITHIN_S", 0.0)
    manager, worker = with_kueue(), with_kueue()

    async def scene() -> None:
        async with (
            fake_api(manager),
            fake_api(worker),
            ApiClient(ApiEndpoint(manager.server)) as client,
            ApiClient(ApiEndpoint(worker.server)) as remote,
        ):
            await worker.create(JOBS, {"metadata": {"name": SUBMISSION.name(0)}})
            await remove_dispatched(client, {"east": remote}, SUBMISSION, ["test"], [JOB])

    with pytest.raises(ClusterError, match=f"Job {SUBMISSION.name(0)} of the submission is still at the cluster east"):
        asyncio.run(scene())


def test_quota_of_the_manager_is_the_sum() -> None:
    (found,) = quotas_of_manager([Tenant("a", "gold", 2, 4, "teams")], 3)
    assert found == Tenant("a", "gold", 2, 12, "teams")


@pytest.mark.parametrize(
    ("clusters", "tenant", "message"),
    [
        ({"East": "k"}, TENANT, "the cluster 'East' needs a name"),
        ({f"c{number}": "k" for number in range(21)}, TENANT, "21 worker clusters are listed"),
        ({"east": "k"}, Tenant("a", "gold"), "need a queue with a quota for each tenant"),
    ],
)
def test_invalid_clusters_are_refused(clusters: dict[str, str], tenant: Tenant, message: str) -> None:
    check_clusters({}, [tenant])
    with pytest.raises(UsageError, match=message):
        check_clusters(clusters, [tenant])


def test_gangs_are_not_dispatched() -> None:
    own = load(multikueue_clusters={"east": "k"}, tenants=(TENANT,))
    own.check_clusters()
    with pytest.raises(UsageError, match="gangs, claims and a topology need objects"):
        load(multikueue_clusters={"east": "k"}, tenants=(TENANT,), gang=True).check_clusters()
    # without queues, nothing is dispatched
    load(multikueue_clusters={"east": "k"}, tenants=(TENANT,), gang=True, use_queues=False).check_clusters()


def test_names_of_one_cluster_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "kubeconfig"
    path.write_bytes(kubeconfig_of("east", EAST))
    both = load(multikueue_clusters={"east": str(path), "west": str(path)}, tenants=(TENANT,))
    with pytest.raises(UsageError, match="the cluster west is also the cluster east"):
        WorkerClusters.of(both, ApiEndpoint("https://manager"))
    with pytest.raises(UsageError, match="the cluster east is the cluster of the test itself"):
        WorkerClusters.of(both, EAST)
