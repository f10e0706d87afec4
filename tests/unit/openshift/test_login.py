"""A login with a password at a simulated OAuth server of an OpenShift."""

from __future__ import annotations

from pathlib import Path

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError, Interrupted, WaitTimeoutError
from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.access import Access
from ansible_collections.psap.perf.plugins.module_utils.openshift.login import Logins

from tests.standins.openshift.oauth_server import TOKEN, Login, oauth_server


def never_stop() -> None:
    """Never ask to stop."""


def ignore(_message: str) -> None:
    """Ignore progress."""


def test_login_waits_for_a_restarting_server_and_hides_its_token(tmp_path: Path) -> None:
    shown: list[str] = []
    hidden: list[str] = []
    with oauth_server(Login({"jane": "a-password"}, restarting=1)) as login:
        logins = Logins(Access(str(login.kubeconfig(tmp_path))))
        logins.wait("jane", "a-password", 60, never_stop, shown.append, hidden.append)

    assert login.asked == ["jane", "jane"]
    assert shown == ["answer 503"]
    assert hidden == [TOKEN]


def test_wrong_password_is_reported_and_nothing_else(tmp_path: Path) -> None:
    with oauth_server(Login({"jane": "a-password"})) as login:
        logins = Logins(Access(str(login.kubeconfig(tmp_path))))
        with pytest.raises(WaitTimeoutError, match=r"jane could not log in at http.* within 0 s: .*another password"):
            logins.wait("jane", "another-one", 0, never_stop, ignore, ignore)


def test_wait_for_a_login_can_be_interrupted(tmp_path: Path) -> None:
    def stop() -> None:
        raise Interrupted("asked to stop")

    with oauth_server(Login()) as login:
        logins = Logins(Access(str(login.kubeconfig(tmp_path))))
        with pytest.raises(Interrupted):
            logins.wait("jane", "a-password", 60, stop, ignore, ignore)


def test_unavailable_oauth_server_is_awaited(tmp_path: Path) -> None:
    with oauth_server(Login()) as login:
        logins = Logins(Access(str(login.kubeconfig(tmp_path))))

    assert "refused" in logins.attempt("jane", "a-password", ignore)


def test_cluster_without_an_oauth_server_is_refused(tmp_path: Path) -> None:
    with (
        oauth_server(Login(has_oauth=False)) as login,
        pytest.raises(ClusterError, match=r"names no OAuth server \(answer 404"),
    ):
        Logins(Access(str(login.kubeconfig(tmp_path))))
