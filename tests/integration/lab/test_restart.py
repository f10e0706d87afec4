"""Killed programs restart with their state, and the cluster continues."""

from __future__ import annotations

import datetime
import json
import os
import signal
import ssl
import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest
from kubernetes import client
from perflab.processes.state import Lab

from .labs import Cluster, Labs, wait_for
from .workloads import job

CONTROL_PLANE = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler")


@pytest.fixture(scope="module")
def mended(labs: Labs) -> Iterator[Lab]:
    yield labs.up("mended", "--nodes", "2", "--fsync")
    assert labs.run("down", "--name", "mended").returncode == 0


def job_done(cluster: Cluster, name: str) -> bool:
    return bool(cluster.batch.read_namespaced_job(name, "default").status.succeeded)


@pytest.mark.parametrize(
    "component",
    [
        "kube-apiserver",
        "etcd",
        *(pytest.param(name, marks=pytest.mark.deep) for name in ("kube-scheduler", "kwok")),
    ],
)
def test_killed_program_is_restarted(labs: Labs, mended: Lab, component: str) -> None:
    cluster = Cluster.of(mended)
    before = labs.get("mended")
    cluster.core.create_namespaced_config_map("default", {"metadata": {"name": f"before-{component}"}})
    done = labs.run("restart", "--name", "mended", component)
    assert done.returncode == 0, done.stderr
    after = labs.get("mended")
    assert not before.pids[component].is_alive()
    assert {name for name in after.pids if after.pids[name] != before.pids[name]} == {component}
    assert after.programs == before.programs
    assert set(labs.left_over("mended")) == set(after.pids.values())
    cluster.core.read_namespaced_config_map(f"before-{component}", "default")
    cluster.batch.create_namespaced_job("default", job(f"after-{component}", {}))
    wait_for("a Job complete", lambda: job_done(cluster, f"after-{component}"))


@pytest.mark.deep
def test_dead_program_is_restarted(labs: Labs, mended: Lab) -> None:
    victim = labs.get("mended").pids["kube-apiserver"]
    os.kill(victim.pid, signal.SIGKILL)
    wait_for("the program has ended", lambda: not victim.is_alive())
    assert labs.run("restart", "--name", "mended", "kube-apiserver", "--after", "0.5").returncode == 0
    assert "mended: running, 2 nodes" in labs.run("status", "--name", "mended").stdout


@pytest.mark.deep
def test_delayed_step_ends_on_time_despite_killed_emulators(labs: Labs, mended: Lab) -> None:
    delay_s, killed_after_s = 20, 10
    cluster = Cluster.of(mended)
    eager = {"metadata": {"name": "eager"}, "provisioner": "lab.psap.perf/volumes", "volumeBindingMode": "Immediate"}
    client.StorageV1Api(cluster.core.api_client).create_storage_class(eager)
    claim = {
        "metadata": {"name": "late", "annotations": {"lab.psap.perf/bind-delay": f"{delay_s}s"}},
        "spec": {
            "storageClassName": "eager",
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}},
        },
    }
    cluster.core.create_namespaced_persistent_volume_claim("default", claim)

    def annotations() -> dict[str, str]:
        read = cluster.core.read_namespaced_persistent_volume_claim("late", "default")
        return dict(read.metadata.annotations)

    wait_for("the beginning of the step", lambda: "lab.psap.perf/steps" in annotations())
    begun = datetime.datetime.fromisoformat(json.loads(annotations()["lab.psap.perf/steps"])["volumes.provision.late"])
    wait_for("half of the delay", lambda: (now() - begun).total_seconds() > killed_after_s)
    killed = now()
    assert labs.run("restart", "--name", "mended", "emulators").returncode == 0
    volume = wait_for("the volume", lambda: cluster.core.list_persistent_volume().items)[0]
    # the server's time has whole seconds
    assert (volume.metadata.creation_timestamp - begun).total_seconds() > delay_s - 1
    assert (volume.metadata.creation_timestamp - killed).total_seconds() < delay_s


def now() -> datetime.datetime:
    return datetime.datetime.now(datetime.UTC)


def test_unknown_program_is_refused(labs: Labs, mended: Lab) -> None:
    refused = labs.run("restart", "--name", "mended", "scheduler")
    assert refused.returncode == 2
    assert "has no program 'scheduler'; known: emulators, etcd, " in refused.stderr


def read(url: str, tls: ssl.SSLContext) -> str:
    # a handler for https only: etcd's endpoint is plain http
    with urllib.request.urlopen(url, context=tls if url.startswith("https") else None) as answer:
        text: str = answer.read().decode()
    return text


def test_control_plane_metrics_are_readable(lab: Lab, cluster: Cluster) -> None:
    mark: dict[str, Any] = cluster.core.read_namespaced_config_map("perflab", "kube-system").data
    endpoints = json.loads(mark["metrics-endpoints"])
    assert sorted(endpoints) == sorted(CONTROL_PLANE)
    pki = lab.folder / "pki"
    tls = ssl.create_default_context(cafile=str(pki / "ca.crt"))
    with pytest.raises(urllib.error.HTTPError, match="403"):
        read(endpoints["kube-scheduler"], tls)
    tls.load_cert_chain(pki / "admin.crt", pki / "admin.key")
    metrics = {component: read(url, tls) for component, url in endpoints.items()}
    assert "apiserver_request_duration_seconds_bucket" in metrics["kube-apiserver"]
    assert "scheduler_pending_pods" in metrics["kube-scheduler"]
    assert "workqueue_depth" in metrics["kube-controller-manager"]
    assert "etcd_disk_wal_fsync_duration_seconds_bucket" in metrics["etcd"]
