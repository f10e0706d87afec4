"""Add-ons by the API of a simulated OCM: every token is valid for one request."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import (
    ClusterError,
    Interrupted,
    PerfError,
    UsageError,
    WaitTimeoutError,
)
from ansible_collections.psap.perf.plugins.module_utils.openshift.addons import (
    AddonManager,
    AddonRequest,
    Installation,
    install_addon,
)

from tests.standins.http_servers import served
from tests.standins.openshift.ocm_api import CSV, OFFLINE_TOKEN, ocm

PARAMETERS = {"notification-email": "somebody@example.invalid"}


def ignore() -> None:
    return None


@pytest.fixture(name="url")
def _url() -> Iterator[str]:
    with served(ocm()) as url:
        yield url


def manager(url: str, token: str = OFFLINE_TOKEN, hidden: list[str] | None = None) -> AddonManager:
    return AddonManager(url, f"{url}/token", token, (hidden if hidden is not None else []).append)


def addon_request(cluster: str, until_ready: bool = True, timeout_s: float = 60.0) -> AddonRequest:
    return AddonRequest(cluster, "managed-odh", PARAMETERS, until_ready, timeout_s)


class Scripted:
    """Return the state of the add-on at each request."""

    def __init__(self, *states: str) -> None:
        self.states = list(states)
        self.asked = 0

    def installation(self, _cluster: str, _addon: str) -> Installation | None:
        state = self.states.pop(0) if len(self.states) > 1 else self.states[0]
        return Installation(state, f"because of {state}", "") if state else None

    def install(self, _cluster: str, _addon: str, _parameters: object) -> None:
        self.asked += 1


def test_expired_tokens_are_replaced_and_hidden(url: str) -> None:
    hidden: list[str] = []
    with manager(url, hidden=hidden) as connection:
        cluster = connection.cluster_id("molecule")
        assert connection.namespace("managed-odh") == "redhat-ods-operator"
        assert connection.installation(cluster, "managed-odh") is None
        connection.install(cluster, "managed-odh", PARAMETERS)
        assert connection.installation(cluster, "managed-odh") == Installation("installing", "", "")
        assert connection.installation(cluster, "managed-odh") == Installation("installing", "", "")
        assert connection.installation(cluster, "managed-odh") == Installation("ready", "", CSV)
    assert len(hidden) == len(set(hidden)) == 7


@pytest.mark.parametrize(
    ("token", "name", "words"),
    [
        ("another", "molecule", "did not accept the offline token: invalid_grant; get another one"),
        (OFFLINE_TOKEN, "nowhere", "OCM has no cluster called nowhere"),
    ],
)
def test_unauthorized_user_and_missing_cluster_are_reported(url: str, token: str, name: str, words: str) -> None:
    with manager(url, token) as connection, pytest.raises(ClusterError, match=words):
        connection.cluster_id(name)


def test_ocm_refusal_is_quoted(url: str) -> None:
    with manager(url) as connection, pytest.raises(PerfError, match=r"refused POST .*/addons with 400: not understood"):
        connection.install("id-1", "another", PARAMETERS)


def test_token_is_not_sent_unencrypted() -> None:
    with pytest.raises(UsageError, match="a token would be sent in plain text"):
        AddonManager("http://ocm.example", "https://sso.example", "t", lambda _secret: None)


def test_unreachable_ocm_is_one_error() -> None:
    with manager("http://127.0.0.1:9") as connection, pytest.raises(ClusterError, match=r"cannot reach OCM at 127\.0"):
        connection.cluster_id("molecule")


def test_existing_addon_is_not_requested_again() -> None:
    there = Scripted("ready")
    assert install_addon(there, addon_request("c"), ignore)[1] is False
    assert there.asked == 0


def test_begun_installation_suffices_without_waiting() -> None:
    begun = Scripted("", "installing")
    found, changed = install_addon(begun, addon_request("c", until_ready=False), ignore)
    assert (found.state, changed, begun.asked) == ("installing", True, 1)


@pytest.mark.parametrize("state", ["failed", "deleting"])
def test_failed_installation_is_reported_immediately(state: str) -> None:
    with pytest.raises(PerfError, match=f"the add-on managed-odh is {state}: because of {state}"):
        install_addon(Scripted(state), addon_request("c"), ignore)


def test_wait_ends_at_the_timeout() -> None:
    with pytest.raises(WaitTimeoutError, match=r"not ready within 0 s: it is installing because of installing"):
        install_addon(Scripted("installing"), addon_request("c", timeout_s=0.0), ignore)


def test_wait_can_be_interrupted() -> None:
    def stop() -> None:
        raise Interrupted("stop")

    with pytest.raises(Interrupted):
        install_addon(Scripted("installing"), addon_request("c"), stop)
