"""One OpenSearch for the tests of this folder, behind a proxy with TLS and passwords."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from perfanalysis.results.opensearch.connection import Server
from perflab.control_plane.certificates import Authority

from tests.integration.opensearch.node import running
from tests.integration.opensearch.proxy import Proxy, proxy

CREDENTIALS = ("tester", "a-wörd-that-nobody-may-see-€")


@pytest.fixture(scope="session")
def plain_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Start a real OpenSearch 2.19.1; return its address, by HTTP and without passwords."""
    with running(tmp_path_factory.mktemp("opensearch")) as address:
        yield address


@pytest.fixture(scope="session")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    """Create the authority of the proxy's certificate, which no system trusts."""
    return Authority(tmp_path_factory.mktemp("tls"))


@pytest.fixture(scope="session", name="before")
def _before(plain_server: str, authority: Authority) -> Iterator[Proxy]:
    with proxy(plain_server, CREDENTIALS, authority.issue_server("server", [])) as started:
        yield started


@pytest.fixture
def server(before: Proxy, authority: Authority, request: pytest.FixtureRequest) -> Iterator[Server]:
    """Return the server behind the proxy, as users reach it; each test has its own indices."""
    prefix = f"t-{abs(hash(request.node.name)) % 10**12}"
    yield Server(before.url, prefix, authority.pair.certificate, credentials=CREDENTIALS)
    before.faults.clear()
