"""The process that renews a run's lease is replaced when it dies, and stops the run when the lease is lost."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from dataclasses import asdict
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any, ClassVar

import pytest
import yaml
from ansible_collections.psap.perf.plugins.module_utils.base.processes import descendants
from ansible_collections.psap.perf.plugins.module_utils.cluster_lease.objects import NAME, Holder, manifest_of
from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.access import Access
from ansible_collections.psap.perf.plugins.module_utils.run import failures
from ansible_collections.psap.perf.plugins.module_utils.run.directory import STOP_FILE
from ansible_collections.psap.perf.plugins.module_utils.run.failures import failures_of
from ansible_collections.psap.perf.plugins.plugin_utils import lease_keeping
from ansible_collections.psap.perf.plugins.plugin_utils.lease_keeping import HeldLease
from ansible_collections.psap.perf.plugins.plugin_utils.leases import HeldLeases

from tests.polling import wait_until
from tests.standins.http_servers import Quiet, served

_KINDS = {
    "resources": [
        {"kind": "Lease", "name": "leases", "namespaced": True, "verbs": ["get", "list", "create", "update", "delete"]}
    ]
}


class _LeaseServer(Quiet, BaseHTTPRequestHandler):
    """An API server with one Lease, which can be read, replaced and deleted."""

    lease: ClassVar[dict[str, Any] | None] = None
    renewals: ClassVar[int] = 0

    def do_GET(self) -> None:
        self._answer(_KINDS if self.path.endswith("/v1") else type(self).lease)

    def do_PUT(self) -> None:
        type(self).lease = json.loads(self._body())
        type(self).renewals += 1
        self._answer(type(self).lease)

    def do_DELETE(self) -> None:
        self._body()
        type(self).lease = None
        self._answer({})

    def _body(self) -> bytes:
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def _answer(self, document: dict[str, Any] | None) -> None:
        body = json.dumps({"message": "not found"} if document is None else document).encode()
        self.send_response(404 if document is None else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@pytest.fixture(name="held_lease")
def _held(tmp_path: Path) -> Iterator[HeldLease]:
    holder = Holder("run-1", "scale_test", "ada", "bastion", "machine", str(tmp_path))
    _LeaseServer.lease, _LeaseServer.renewals = manifest_of(NAME, holder, None), 0
    with served(_LeaseServer) as address:
        document = {
            "clusters": [{"name": "x", "cluster": {"server": address}}],
            "users": [{"name": "x", "user": {}}],
            "contexts": [{"name": "x", "context": {"cluster": "x", "user": "x"}}],
            "current-context": "x",
        }
        path = tmp_path / "kubeconfig"
        path.write_text(yaml.safe_dump(document))
        yield HeldLease(Access(str(path)), holder, str(tmp_path), 1)


def _keepers() -> list[int]:
    """Return the IDs of the processes below this one that renew a lease."""
    named = f"{lease_keeping.PROCESS_NAME}\n"
    return [pid for pid in descendants(os.getpid()) if Path(f"/proc/{pid}/comm").read_text(encoding="utf-8") == named]


def test_killed_keeper_is_replaced_and_renews_at_once(held_lease: HeldLease) -> None:
    leases = HeldLeases()
    leases.keep(asdict(held_lease))
    try:
        wait_until(lambda: len(_keepers()) == 1 and _LeaseServer.renewals == 1)
        (killed,) = _keepers()
        os.kill(killed, signal.SIGKILL)
        wait_until(lambda: killed not in _keepers())
        leases.check()
        # Well before the ten seconds after which a process renews the lease again
        wait_until(lambda: _LeaseServer.renewals == 2)
        assert killed not in _keepers() and len(_keepers()) == 1
    finally:
        leases.end(give_back=True)
    assert _LeaseServer.lease is None


def test_lost_lease_stops_the_run_with_exit_code_3(held_lease: HeldLease, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lease_keeping, "RENEWED_EVERY_S", 0.1)
    leases, run = HeldLeases(), Path(held_lease.run_directory)
    leases.keep(asdict(held_lease))
    try:
        wait_until(lambda: _LeaseServer.renewals > 0)
        other = Holder("run-2", "scale_test", "bob", "laptop", "another", "/nowhere")
        _LeaseServer.lease = manifest_of(NAME, other, None)
        wait_until((run / STOP_FILE).exists)
    finally:
        leases.end(give_back=True)
    (failure,) = failures_of(run, 1)
    assert failure.exit_code == 3
    assert "was taken over by run run-2 (scale_test) of bob on laptop" in failure.why
    assert _LeaseServer.lease and _LeaseServer.lease["spec"]["holderIdentity"] == "run-2"


def test_lost_lease_stops_the_run_on_a_full_disk(held_lease: HeldLease, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(failures, "append_failure", full)
    _LeaseServer.lease = None
    leases = HeldLeases()
    leases.keep(asdict(held_lease))
    try:
        wait_until((Path(held_lease.run_directory) / STOP_FILE).exists)
    finally:
        leases.end(give_back=True)
