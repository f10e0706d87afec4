"""Commands whose pods run programs, on the real node of a lab, in a namespace that opts in."""

from __future__ import annotations

import hashlib
import io
import os
import socket
import subprocess
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import boto3
import pytest
from ansible_collections.psap.perf.plugins.module_utils.kube_api.pod_exec import run_in_pod
from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.access import Access
from kubernetes import client, config

from ..conftest import Lab, lab_with, perflab

SPACE = "real"
REAL = "lab.psap.perf/real"
BUSY = "psap.perf/busy-cluster"
IMAGE = "localhost/perflab/{}"
PYTHON, BUSYBOX = IMAGE.format("python:3"), IMAGE.format("busybox:1")


@dataclass(frozen=True)
class RealLab:
    """A lab with a real node, and the folder of its runs."""

    lab: Lab
    runs: Path
    core: client.CoreV1Api

    def load(self, *images: str) -> None:
        perflab("image", "load", *images, "--name", self.lab.name)

    def start(self, *words: str) -> subprocess.CompletedProcess[str]:
        environment = {**self.lab.environment(self.runs), "KUBECONFIG": str(self.lab.kubeconfig)}
        return self.lab.run_with(environment, "perfdrv", "toolbox", *words)

    def toolbox(self, *words: str) -> None:
        """Run a command, which succeeds."""
        done = self.start(*words)
        assert done.returncode == 0, done.stdout + done.stderr

    def address(self, service: str) -> str:
        return str(self.core.read_namespaced_service(service, SPACE).spec.cluster_ip)

    def run_in(self, label: str, *command: str) -> str:
        """Return the output of a command in the pod with this label, which is on the real node."""
        (pod,) = self.core.list_namespaced_pod(SPACE, label_selector=label).items
        assert pod.spec.node_name == "worker-0"
        output = io.BytesIO()
        where = (SPACE, pod.metadata.name, pod.spec.containers[0].name)
        run_in_pod(Access(kubeconfig=str(self.lab.kubeconfig)), where, command, output, lambda: None)
        return output.getvalue().decode()


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealLab]:
    options = ("--nodes", "2", "--gpus", "0", "--with", "worker")
    with lab_with("PERF_TEST_REAL_LAB", f"tests-real-{os.getpid()}", *options) as lab:
        core = client.CoreV1Api(config.new_client_from_config(str(lab.kubeconfig)))
        labels = {REAL: "true", BUSY: "yes"}
        if SPACE not in {each.metadata.name for each in core.list_namespace().items}:
            core.create_namespace({"metadata": {"name": SPACE, "labels": labels}})
        yield RealLab(lab, tmp_path_factory.mktemp("runs"), core)


def test_redis_server_answers(real: RealLab) -> None:
    real.load("redis")
    real.toolbox("server", "deploy-redis-server", "--namespace", SPACE, "--image", IMAGE.format("redis:1"))
    with socket.create_connection((real.address("redis"), 6379), timeout=10) as connection:
        connection.sendall(b"PING\r\n")
        assert connection.recv(100) == b"+PONG\r\n"


def download(real: RealLab, source: Path, name: str, *words: str) -> None:
    """Download the file *name* below *source* into a claim, from a server in another pod."""
    real.load("nginx")
    image = IMAGE.format("nginx:1")
    real.toolbox("server", "deploy-nginx-server", "--namespace", SPACE, "--directory", str(source), "--image", image)
    address = f"http://nginx.{SPACE}.svc.cluster.local:8080/{name}"
    claim = ("--name", Path(name).name, "--source", address, "--pvc-name", "data", "--namespace", SPACE)
    real.toolbox("storage", "download-to-pvc", *claim, "--image", PYTHON, "--timeout", "5m", *words)


@pytest.mark.deep
def test_nginx_serves_files_that_a_pod_downloads_into_a_claim(real: RealLab, tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub/data.txt").write_text("data\n")
    download(real, tmp_path, "sub/data.txt")
    (log,) = real.runs.glob("*/*download_to_pvc/artifacts/logs/*.log")
    digest = hashlib.sha256(b"data\n").hexdigest()
    assert f"{digest}  data.txt" in log.read_text()


@pytest.mark.deep
def test_pod_of_a_pytorchjob_prepares_the_data_set_of_a_claim(real: RealLab, tmp_path: Path) -> None:
    (tmp_path / "records.jsonl").write_text('{"input": "a"}\n' * 3)
    download(real, tmp_path, "records.jsonl", "--storage-dir", "dataset")
    job = ("--name", "prepare", "--namespace", SPACE, "--pvc-name", "data", "--workload", "fms", "--model-name", "none")
    data = ("--dataset-name", "records.jsonl", "--dataset-replication", "2", "--dataset-prepare-cache-only")
    small = ("--container-image", PYTHON, "--memory", "1", "--timeout", "5m", "--no-retrieve-files")
    real.toolbox("fine-tuning", "run-fine-tuning-job", *job, *data, *small)
    (log,) = real.runs.glob("*/*run_fine_tuning_job/artifacts/logs/*.log")
    assert "data set: 6 records in /mnt/storage/dataset_cache/records-x2-as-is-" in log.read_text()


@pytest.mark.deep
def test_ldap_server_has_its_users(real: RealLab, monkeypatch: pytest.MonkeyPatch) -> None:
    real.load("openldap")
    monkeypatch.setenv("LDAP_ADMIN", "of-the-admin")
    monkeypatch.setenv("LDAP_USER", "of-the-users")
    users = ("--idp-name", "test", "--username-prefix", "user", "--username-count", "3")
    secrets = ("--admin-password", "env:LDAP_ADMIN", "--user-password", "env:LDAP_USER")
    real.toolbox("server", "deploy-ldap", *users, *secrets, "--namespace", SPACE, "--image", IMAGE.format("openldap:1"))
    server = f"ldap://openldap.{SPACE}.svc.cluster.local:1389"
    base = "ou=users,dc=example,dc=org"
    search = (
        "ldapsearch",
        "-x",
        "-LLL",
        "-H",
        server,
        "-D",
        f"uid=user0,{base}",
        "-w",
        "of-the-users",
        "-b",
        base,
        "cn",
    )
    found = real.run_in("app=openldap", *search)
    assert [line for line in found.splitlines() if line.startswith("cn:")] == ["cn: user0", "cn: user1", "cn: user2"]


@pytest.mark.deep
def test_preload_runs_an_image_without_a_shell_on_the_node(real: RealLab) -> None:
    real.load("busybox")
    images = ("--image", IMAGE.format("pause:1"), "--helper-image", BUSYBOX)
    real.toolbox("cluster", "preload-image", "--name", "preload", "--namespace", SPACE, *images, "--timeout", "5m")


@pytest.mark.deep
def test_placeholder_takes_the_free_cpus_of_the_node(real: RealLab) -> None:
    place = ("--namespace", SPACE, "--label-selector", f"{REAL}=true")
    real.toolbox("cluster", "fill-workernodes", *place, "--image", IMAGE.format("pause:1"))
    (pod,) = real.core.list_namespaced_pod(SPACE, label_selector="psap.perf/placeholder").items
    assert (pod.spec.node_name, pod.status.phase) == ("worker-0", "Running")
    real.toolbox("cluster", "fill-workernodes", *place, "--state", "absent")
    assert not real.core.list_namespaced_pod(SPACE, label_selector="psap.perf/placeholder").items


@pytest.mark.deep
def test_gpu_burn_without_cuda_names_the_missing_library(real: RealLab) -> None:
    gpus = "nvidia.com/gpu.present"
    real.core.patch_node("worker-0", {"metadata": {"labels": {gpus: "true"}}})
    burn = ("--namespace", SPACE, "--no-ensure-has-gpu", "--runtime", "1", "--image", PYTHON)
    done = real.start("gpu-operator", "run-gpu-burn", *burn)
    real.core.patch_node("worker-0", {"metadata": {"labels": {gpus: None}}})
    assert done.returncode != 0
    (log,) = real.runs.glob("*/*run_gpu_burn/artifacts/logs/*.log")
    assert "cannot load CUDA: libcudart.so.12" in log.read_text()
    assert not real.core.list_namespaced_pod(SPACE, label_selector="psap.perf/command=gpu-burn").items


@pytest.mark.deep
def test_database_of_prometheus_is_dumped_and_reset_in_its_pod(real: RealLab) -> None:
    real.load("prometheus")
    labels = {"app": "prometheus"}
    container = {"name": "prometheus", "image": IMAGE.format("prometheus:1")}
    pod = {"metadata": {"labels": labels}, "spec": {"containers": [container]}}
    apps = client.AppsV1Api(real.core.api_client)
    deployment = {"selector": {"matchLabels": labels}, "template": pod}
    apps.create_namespaced_deployment(SPACE, {"metadata": {"name": "prometheus"}, "spec": deployment})
    database = ("--via", "exec", "--namespace", SPACE, "--label", "app=prometheus")
    real.toolbox("cluster", "reset-prometheus-db", *database)
    (before,) = real.core.list_namespaced_pod(SPACE, label_selector="app=prometheus").items
    real.toolbox("cluster", "dump-prometheus-db", *database)
    (dump,) = real.runs.glob("*/*dump_prometheus_db/artifacts/prometheus.tar.gz")
    with tarfile.open(dump) as archive:
        assert any("/wal/" in f"/{name}" for name in archive.getnames())
    real.toolbox("cluster", "reset-prometheus-db", *database)
    (after,) = real.core.list_namespaced_pod(SPACE, label_selector="app=prometheus").items
    assert (after.spec.node_name, after.metadata.name == before.metadata.name) == ("worker-0", False)


@pytest.mark.deep
def test_pods_of_the_skeleton_sleep_as_another_user(real: RealLab) -> None:
    pods = ("--pods", "3", "--seconds", "1", "--image", PYTHON)
    real.toolbox("skeleton", "start-pods", "--namespace", SPACE, *pods)
    (captured,) = real.runs.glob("*/*skeleton__start_pods/artifacts/pod.yml")
    assert captured.read_text().count("nodeName: worker-0") == 3


@pytest.mark.deep
def test_user_of_minio_writes_to_its_bucket(real: RealLab, monkeypatch: pytest.MonkeyPatch) -> None:
    real.load("minio", "mc")
    monkeypatch.setenv("MINIO_ROOT", "of-the-admin")
    monkeypatch.setenv("MINIO_USER", "of-the-user")
    secrets = ("--root-password", "env:MINIO_ROOT", "--user-password", "env:MINIO_USER")
    images = ("--image", IMAGE.format("minio:1"), "--client-image", IMAGE.format("mc:1"))
    real.toolbox("server", "deploy-minio-s3-server", "--namespace", SPACE, *secrets, *images, "--pvc-size", "1Gi")
    keys = {"aws_access_key_id": "minio", "aws_secret_access_key": "of-the-user"}
    s3 = boto3.client("s3", endpoint_url=f"http://{real.address('minio')}:9000", region_name="us-east-1", **keys)
    s3.put_object(Bucket="my-bucket", Key="data", Body=b"data")
    assert s3.get_object(Bucket="my-bucket", Key="data")["Body"].read() == b"data"


# the last test: the cleanup deletes the namespace
@pytest.mark.deep
def test_pods_of_a_busy_cluster_sleep_and_crash(real: RealLab) -> None:
    real.load("busybox")
    real.toolbox("busy-cluster", "create-jobs", "--count", "2", "--runtime", "1", "--image", BUSYBOX)
    crash = ("--count", "1", "--failing", "CrashLoopBackOff")
    real.toolbox("busy-cluster", "create-deployments", *crash, "--image", BUSYBOX)
    real.toolbox("busy-cluster", "status")
    pods = real.core.list_namespaced_pod(SPACE, label_selector=f"{BUSY}=yes").items
    assert len(pods) == 5
    assert {pod.spec.node_name for pod in pods} == {"worker-0"}
    real.toolbox("busy-cluster", "cleanup")
