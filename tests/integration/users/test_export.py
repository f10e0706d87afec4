"""Files of users in a bucket of a real S3 server, by a connection that the pods verify."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from perflab.control_plane.certificates import Authority

from tests.polling import wait_until
from tests.standins.s3_server import IDENTITY, SECRET, Tls, s3_server

from .conftest import SELECTOR, Users
from .test_users import files_with

pytestmark = [pytest.mark.lab, pytest.mark.deep]

JOB = "exporting"
COMMAND = "sh -c 'mkdir $PERF_USER_ARTIFACTS/sub && echo $PERF_USER_NAME > \"$PERF_USER_ARTIFACTS/sub/a name.txt\"'"


def host_address(users: Users) -> str:
    """Return the address of this machine in the network of the real node."""
    node = users.core.read_node("worker-0")
    address = next(each.address for each in node.status.addresses if each.type == "InternalIP")
    route = subprocess.run(["ip", "route", "get", address], capture_output=True, text=True, check=True).stdout.split()
    return route[route.index("src") + 1]


@contextmanager
def store_of(users: Users, folder: Path) -> Iterator[tuple[str, ...]]:
    """Run a store, whose Secret is `store`; yield the options for an export to it, without the Secret."""
    host = host_address(users)
    authority = Authority(folder / "pki")
    pair = authority.issue_server("server", [host])
    tls = Tls(pair.certificate, pair.key, authority.pair.certificate)
    with s3_server(folder, host, tls) as server:
        server.bucket("runs").close()
        keys = {"access-key-id": IDENTITY, "secret-access-key": SECRET}
        for name, more in (("store", {"ca.crt": tls.authority.read_text()}), ("untrusting", {})):
            users.core.create_namespaced_secret(
                users.namespace, {"metadata": {"name": name}, "stringData": {**keys, **more}}
            )
        yield ("--export-bucket-name", "runs", "--export-endpoint", server.endpoint, "--export-prefix", "ci")


def test_pods_export_only_to_a_store_that_they_trust(users: Users, tmp_path: Path) -> None:
    with store_of(users, tmp_path) as to_store:
        words = ("--user-count", "2", "--ci-command", COMMAND, *to_store)

        done = users.run("run-multi", JOB, *words, "--export-secret-name", "store")
        assert done.returncode == 0, done.stdout
        exported = tmp_path / "buckets" / "runs" / "ci"
        assert (exported / "user-1" / "sub" / "a name.txt").read_text() == "user-1\n"
        assert {path.name for path in (exported / "user-0").rglob("*.txt")} == {"a name.txt", "log.txt"}
        assert (users.artifacts() / "user-0" / "sub" / "a name.txt").read_text() == "user-0\n"
        assert files_with(SECRET, users.runs) == []

        done = users.run("run-multi", JOB, *words, "--export-secret-name", "untrusting")
        assert done.returncode != 0
        assert "the files of 2 users that succeeded are missing" in done.stdout + done.stderr
        assert "CERTIFICATE_VERIFY_FAILED" in done.stdout + done.stderr
        assert users.left() == []


def test_later_wait_fetches_files_of_deleted_pods_from_the_bucket(users: Users, tmp_path: Path) -> None:
    with store_of(users, tmp_path) as to_store:
        words = ("--user-count", "2", "--daemon", "--ci-command", COMMAND, *to_store, "--export-secret-name", "store")
        done = users.run("run-multi", JOB, *words)
        assert done.returncode == 0, done.stdout
        exported = tmp_path / "buckets" / "runs" / "ci"
        # the file that is sent last
        wait_until(lambda: all((exported / f"user-{index}" / "exit_code").exists() for index in range(2)))
        users.batch.delete_namespaced_job(JOB, users.namespace, propagation_policy="Background")
        selector = f"{SELECTOR}={JOB}"
        wait_until(lambda: not users.core.list_namespaced_pod(users.namespace, label_selector=selector).items)

        done = users.run("wait", JOB)
        assert done.returncode == 0, done.stdout
        assert [user["outcome"] for user in users.result()["users"]] == ["success", "success"]
        assert (users.artifacts() / "user-1" / "sub" / "a name.txt").read_text() == "user-1\n"
        assert files_with(SECRET, users.runs) == []
        assert users.left() == []
