"""A cluster behind a proxy: verbs, the submitter and kubernetes.core's modules connect in the same way."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError
from ansible_collections.psap.perf.plugins.module_utils.kube_api.client import Cluster
from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.access import Access
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.api import ApiClient
from perflab.control_plane.certificates import Authority

from tests.standins.connect_proxy import ConnectProxy, connect_proxy
from tests.unit.kubeconfig.test_access import _access, _api_server, _inline

# no name server resolves it: only the proxy can reach it
NAME = "api.cluster.test"
_VARIABLES = ("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY")


@pytest.fixture(autouse=True)
def _no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in _VARIABLES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


@pytest.fixture(name="behind")
def _behind(tmp_path: Path) -> Iterator[tuple[Callable[..., Access], ConnectProxy]]:
    """Yield a function that creates an access to a TLS server behind a proxy, and the proxy."""
    authority = Authority(tmp_path / "authority")
    client = authority.issue_client("user", "somebody")
    with _api_server(authority) as url, connect_proxy({NAME: ("127.0.0.1", int(url.rpartition(":")[2]))}) as proxy:
        trust = {"certificate-authority-data": _inline(authority.pair.certificate), "tls-server-name": "localhost"}

        def access(**cluster: Any) -> Access:
            return _access(tmp_path, {"server": f"https://{NAME}:6443", **trust, **cluster}, client)

        yield access, proxy


def submitter_reaches(access: Access) -> bool:
    """Return whether the submitter's connection gets an answer."""

    async def ask() -> bool:
        async with ApiClient(access.endpoint()) as client:
            succeeded = (await client.request("GET", "/api/v1")).succeeded
        # aiohttp closes a TLS connection a moment after its session.
        await asyncio.sleep(0.1)
        return succeeded

    return asyncio.run(ask())


def verb_reaches(access: Access) -> bool:
    """Return whether the verbs' connection gets an answer."""
    cluster = Cluster(access)
    try:
        return cluster.serves("v1", "Node")
    finally:
        cluster.close()


WAYS = {"verb": verb_reaches, "submitter": submitter_reaches}
Behind = tuple[Callable[..., Access], ConnectProxy]


@pytest.mark.parametrize("reaches", WAYS.values(), ids=WAYS)
def test_proxy_url_of_the_kubeconfig_is_used(reaches: Callable[[Access], bool], behind: Behind) -> None:
    access, proxy = behind
    assert reaches(access(**{"proxy-url": proxy.url}))
    assert proxy.targets == [f"{NAME}:6443"]


@pytest.mark.parametrize("reaches", WAYS.values(), ids=WAYS)
def test_proxy_of_the_environment_is_used_unless_no_proxy_has_the_host(
    reaches: Callable[[Access], bool], behind: Behind, monkeypatch: pytest.MonkeyPatch
) -> None:
    access, proxy = behind
    monkeypatch.setenv("HTTPS_PROXY", proxy.url)
    assert reaches(access())
    monkeypatch.setenv("NO_PROXY", "cluster.test")
    assert access().endpoint().proxy is None
    # As for kubectl, a kubeconfig's own proxy is not subject to NO_PROXY.
    assert reaches(access(**{"proxy-url": proxy.url}))
    assert proxy.targets == [f"{NAME}:6443"] * 2


@pytest.mark.parametrize("reaches", WAYS.values(), ids=WAYS)
def test_proxy_of_http_is_not_used_for_https(
    reaches: Callable[[Access], bool], behind: Behind, monkeypatch: pytest.MonkeyPatch
) -> None:
    access, proxy = behind
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    assert reaches(access(**{"proxy-url": proxy.url}))


@pytest.mark.parametrize("reaches", WAYS.values(), ids=WAYS)
def test_login_of_the_proxy_is_used_and_not_shown(reaches: Callable[[Access], bool], behind: Behind) -> None:
    access, proxy = behind
    proxy.login = "Basic " + base64.b64encode(b"ada:s3cret/").decode()
    with_login = proxy.url.replace("//", "//ada:s3cret%2F@")
    reached = access(**{"proxy-url": with_login})
    assert reaches(reached)
    assert (proxy.refused, proxy.targets) == (0, [f"{NAME}:6443"])
    options = reached.module_options()
    assert options["proxy"] == proxy.url and options["proxy_headers"] == {"proxy_basic_auth": "ada:s3cret/"}


def test_modules_of_kubernetes_core_are_given_the_proxy_and_the_context(behind: Behind) -> None:
    access, proxy = behind
    reached = access(**{"proxy-url": proxy.url})
    expected = {"kubeconfig": reached.kubeconfig, "context": "x", "proxy": proxy.url, "no_proxy": ""}
    assert reached.module_options() == expected
    assert access().module_options()["proxy"] == ""


def test_proxy_that_refuses_is_named_without_its_login(behind: Behind) -> None:
    access, proxy = behind
    proxy.login = "Basic other"
    with_login = proxy.url.replace("//", "//ada:s3cret@")
    with pytest.raises(ClusterError, match=rf"through the proxy {proxy.url} while .*407") as caught:
        verb_reaches(access(**{"proxy-url": with_login}))
    assert "s3cret" not in str(caught.value)


def test_own_proxy_wins(behind: Behind) -> None:
    access, proxy = behind
    reached = access(**{"proxy-url": "http://127.0.0.1:1"})
    assert verb_reaches(Access(reached.kubeconfig, proxy=proxy.url))


@pytest.mark.parametrize("proxy", ["socks5://127.0.0.1:1080", "bastion:3128", "http://"])
def test_proxy_that_is_not_supported_is_refused(proxy: str, behind: Behind) -> None:
    access, _proxy = behind
    with pytest.raises(
        ClusterError, match=r"is not supported for the proxy to the cluster: set an http:// or https://"
    ):
        Cluster(access(**{"proxy-url": proxy}))
