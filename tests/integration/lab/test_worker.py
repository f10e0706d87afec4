"""A real node beside simulated ones, with root and without: its pods run programs, and nothing of it is left behind."""

from __future__ import annotations

import io
import json
import os
import signal
import tarfile
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError
from ansible_collections.psap.perf.plugins.module_utils.kube_api.pod_exec import run_in_pod
from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.access import Access
from kubernetes.client import ApiException
from perflab.cluster import real_node
from perflab.processes import process
from perflab.processes.state import Lab
from perflab.worker import images
from perflab.worker.images import PYTHON, Image

from tests.integration.conftest import Lab as RunLab

from . import machine
from .labs import Cluster, Labs, wait_for
from .ordinary_user import labs_of_ordinary_user
from .serving import gateway_url

NAME = "worker"
SPACE = "default"
OPTED_IN = {
    "nodeSelector": {real_node.REAL: "true"},
    "tolerations": [{"key": real_node.REAL, "operator": "Exists"}],
    "terminationGracePeriodSeconds": 0,
}
# what a pod of a user does: reads its volumes, writes a file, calls a Service by its name, and the API server
SCRIPT = """
import json, pathlib, ssl, urllib.request
account = pathlib.Path("/var/run/secrets/kubernetes.io/serviceaccount")
tls = ssl.create_default_context(cafile=account / "ca.crt")
pathlib.Path("/scratch/file").write_text("written")
print(json.dumps({
    "secret": pathlib.Path("/secret/key").read_text(),
    "scratch": pathlib.Path("/scratch/file").read_text(),
    "service": urllib.request.urlopen("http://web.default.svc.cluster.local/").status,
    "api": json.load(urllib.request.urlopen("https://kubernetes.default.svc/version", context=tls))["gitVersion"],
}))
"""


FORWARD = """
from ansible_collections.psap.perf.plugins.module_utils.kube_api.port_forward import forwarded
from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.access import Access
with forwarded(Access(), "default", "server", 8000) as connection:
    connection.socket.sendall(b"GET / HTTP/1.0\\r\\n\\r\\n")
    print(connection.socket.recv(100).decode())
"""


ROOT, ROOTLESS = "root", "rootless"
of_root = pytest.mark.parametrize("worker", [ROOT], indirect=True)
of_both = pytest.mark.parametrize("worker", [ROOT, ROOTLESS], indirect=True)
# without root only in deep tests, to save time
mostly_of_root = pytest.mark.parametrize(
    "worker", [ROOT, pytest.param(ROOTLESS, marks=pytest.mark.deep)], indirect=True
)
of_user = pytest.mark.parametrize("worker", [ROOTLESS], indirect=True)


@dataclass(frozen=True)
class Worker:
    """The lab, its cluster, its networks, and the settings of this machine before."""

    labs: Labs
    lab: Lab
    cluster: Cluster
    spaces: set[str]
    before: dict[str, set[str]]

    @property
    def access(self) -> Access:
        return Access(kubeconfig=str(self.lab.kubeconfig))


@pytest.fixture(scope="module")
def worker(request: pytest.FixtureRequest) -> Iterator[Worker]:
    """A lab of 2 simulated nodes and a real one, on which a web server runs behind the Service `web`.

    With root, it has KServe, too.
    """
    if request.param == ROOT:
        yield from started(request.getfixturevalue("labs"), "--with", "kserve")
        return
    with labs_of_ordinary_user() as labs:
        yield from started(labs)


def started(labs: Labs, *options: str) -> Iterator[Worker]:
    before = machine.settings()
    lab = labs.up(NAME, "--nodes", "2", "--with", "worker", *options)
    cluster = Cluster.of(lab)
    server: dict[str, Any] = {
        "name": "main",
        "image": PYTHON,
        "command": ["python3", "-m", "http.server", "8000"],
        "workingDir": "/tmp",
    }
    server["readinessProbe"] = {"httpGet": {"path": "/", "port": 8000}, "periodSeconds": 1}
    metadata = {"name": "server", "labels": {"app": "web"}}
    cluster.core.create_namespaced_pod(SPACE, {"metadata": metadata, "spec": {**OPTED_IN, "containers": [server]}})
    service = {"selector": {"app": "web"}, "ports": [{"port": 80, "targetPort": 8000}]}
    cluster.core.create_namespaced_service(SPACE, {"metadata": {"name": "web"}, "spec": service})
    wait_for("the web server is ready", lambda: is_ready(cluster, "server"))
    yield Worker(labs, lab, cluster, machine.spaces(lab), before)
    labs.run("down", "--name", NAME)


def is_ready(cluster: Cluster, pod: str) -> bool:
    status = cluster.core.read_namespaced_pod_status(pod, SPACE).status
    return any(each.type == "Ready" and each.status == "True" for each in status.conditions or [])


def run_job(worker: Worker, name: str, *command: str, **spec: Any) -> str:
    """Run a Job on the real node until it succeeds; return its output."""
    mounts = [{"name": volume["name"], "mountPath": f"/{volume['name']}"} for volume in spec.get("volumes", ())]
    container = {"name": "main", "image": PYTHON, "command": list(command), "volumeMounts": mounts}
    pod = {**OPTED_IN, "restartPolicy": "Never", "containers": [container], **spec}
    body = {"metadata": {"name": name}, "spec": {"backoffLimit": 0, "template": {"spec": pod}}}
    worker.cluster.batch.create_namespaced_job(SPACE, body)

    def ended() -> bool:
        status = worker.cluster.batch.read_namespaced_job_status(name, SPACE).status
        return bool(status.succeeded or status.failed)

    wait_for(f"the Job {name} ends", ended)
    (pod,) = worker.cluster.core.list_namespaced_pod(SPACE, label_selector=f"job-name={name}").items
    # as it is: the client would read a number or an object of it
    log = worker.cluster.core.read_namespaced_pod_log(pod.metadata.name, SPACE, _preload_content=False)
    output = str(log.data.decode())
    assert pod.status.phase == "Succeeded", output
    assert pod.spec.node_name == real_node.NAME
    return output


@of_both
def test_lab_lists_the_node_as_real(worker: Worker) -> None:
    mark = worker.cluster.core.read_namespaced_config_map("perflab", "kube-system").data
    assert "worker" in mark["real"].split(",")
    assert mark["absent"] == ",".join(worker.lab.absent)
    nodes = {each.metadata.name: each for each in worker.cluster.core.list_node().items}
    assert sorted(nodes) == ["node-0000", "node-0001", real_node.NAME]
    real = nodes[real_node.NAME]
    assert [(each.key, each.effect) for each in real.spec.taints] == [(real_node.REAL, "NoSchedule")]
    assert real.metadata.labels[real_node.REAL] == "true"


@of_both
def test_status_names_what_is_absent(worker: Worker) -> None:
    done = worker.labs.run("status", "--name", NAME)
    assert worker.lab.rootless == ("without root (absent: limits of pods, " in done.stdout)
    assert len({Path(f"/proc/{each.pid}").stat().st_uid for each in worker.labs.left_over(NAME)}) == 1


@of_both
def test_job_reads_volumes_and_calls_a_service_by_name(worker: Worker) -> None:
    core = worker.cluster.core
    core.create_namespaced_config_map(SPACE, {"metadata": {"name": "script"}, "data": {"main.py": SCRIPT}})
    core.create_namespaced_secret(SPACE, {"metadata": {"name": "secret"}, "stringData": {"key": "hidden"}})
    volumes = [
        {"name": "script", "configMap": {"name": "script"}},
        {"name": "secret", "secret": {"secretName": "secret"}},
        {"name": "scratch", "emptyDir": {}},
    ]
    output = json.loads(run_job(worker, "reads", "python3", "/script/main.py", volumes=volumes))
    api = worker.lab.versions["kubernetes"]
    assert output == {"secret": "hidden", "scratch": "written", "service": 200, "api": api}


@of_root
def test_claim_keeps_files_from_pod_to_pod_and_ends_with_its_folder(worker: Worker) -> None:
    core, folders = worker.cluster.core, real_node.volumes_folder(worker.lab.folder)
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    core.create_namespaced_persistent_volume_claim(SPACE, {"metadata": {"name": "data"}, "spec": spec})
    mounted: dict[str, Any] = {
        "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}],
        "securityContext": {"runAsUser": 1000, "fsGroup": 1000},
    }
    run_job(worker, "writes", "sh", "-c", "echo written > /data/file", **mounted)
    assert run_job(worker, "reads-again", "cat", "/data/file", **mounted) == "written\n"
    (folder,) = folders.iterdir()
    assert (folder / "file").read_text() == "written\n"
    for name in ("writes", "reads-again"):
        worker.cluster.batch.delete_namespaced_job(name, SPACE, propagation_policy="Background")
    core.delete_namespaced_persistent_volume_claim("data", SPACE)
    wait_for("the folder of the volume is deleted", lambda: not list(folders.iterdir()))
    assert not core.list_persistent_volume().items


@of_root
def test_pod_that_does_not_opt_in_is_simulated(worker: Worker) -> None:
    container = {"name": "main", "image": "none"}
    pod = {"metadata": {"name": "simulated"}, "spec": {"containers": [container], "restartPolicy": "Never"}}
    worker.cluster.core.create_namespaced_pod(SPACE, pod)

    def placed() -> str | None:
        name: str | None = worker.cluster.core.read_namespaced_pod("simulated", SPACE).spec.node_name
        return name

    assert wait_for("the pod has a node", placed) in ("node-0000", "node-0001")


@of_user
@pytest.mark.parametrize("identity", [{"runAsUser": 1000}, {"fsGroup": 1000}, {"runAsNonRoot": True}], ids=str)
def test_pods_of_other_users_are_refused_without_root(worker: Worker, identity: dict[str, Any]) -> None:
    container = {"name": "main", "image": PYTHON}
    pod = {**OPTED_IN, "restartPolicy": "Never", "containers": [container], "securityContext": identity}
    job = {"metadata": {"name": "refused"}, "spec": {"template": {"spec": pod}}}
    for create, body in (
        (worker.cluster.core.create_namespaced_pod, {"metadata": {"name": "refused"}, "spec": pod}),
        (worker.cluster.batch.create_namespaced_job, job),
    ):
        with pytest.raises(ApiException, match="starts no pod with a user or group other than 0"):
            create(SPACE, body)


@of_user
@pytest.mark.deep
def test_flow_refuses_users_as_pods_without_root(worker: Worker, tmp_path: Path) -> None:
    presets = ("-p", "kserve_raw", "-p", "kserve_scale", "-p", "users_lab")
    settings = json.dumps({"kserve_users_as": "pods", "perf_kubeconfig": str(worker.lab.kubeconfig)})
    done = RunLab(NAME, worker.lab.kubeconfig).run(
        tmp_path, "perfdrv", "run", "kserve", "--site", "lab", *presets, "-e", settings
    )
    assert done.returncode != 0
    expected = (
        "this lab cannot run users as pods, because its real node runs without root and starts no pods of other users; "
        "create it as root with `perflab up --with worker`"
    )
    assert expected in " ".join((done.stdout + done.stderr).split())
    assert not list(tmp_path.glob("*/*__cell__*"))


@pytest.mark.deep
@of_root
def test_gateway_sends_requests_to_a_real_pod(worker: Worker) -> None:
    rewrite = {"type": "URLRewrite", "urlRewrite": {"path": {"type": "ReplacePrefixMatch", "replacePrefixMatch": "/"}}}
    rule = {
        "matches": [{"path": {"type": "PathPrefix", "value": "/web"}}],
        "filters": [rewrite],
        "backendRefs": [{"name": "web", "port": 80}],
    }
    parents = [{"name": "kserve-ingress-gateway", "namespace": "kserve"}]
    body = {
        "apiVersion": "gateway.networking.k8s.io/v1",
        "kind": "HTTPRoute",
        "metadata": {"name": "web"},
        "spec": {"parentRefs": parents, "rules": [rule]},
    }
    routes = ("gateway.networking.k8s.io", "v1", SPACE, "httproutes")
    worker.cluster.custom.create_namespaced_custom_object(*routes, body)
    url = gateway_url(worker.cluster)
    wait_for("the gateway reaches the pod", lambda: status_of(f"{url}/web/") == 200)
    # the answer of the server, which has no such file
    assert status_of(f"{url}/web/missing") == 404


def status_of(url: str) -> int:
    try:
        with urllib.request.urlopen(url, timeout=60) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code


@of_both
def test_verbs_of_the_collection_reach_into_a_pod(worker: Worker) -> None:
    output = io.BytesIO()
    where = (SPACE, "server", "main")
    done = run_in_pod(worker.access, where, ["python3", "-c", "print(6 * 7)"], output, lambda: None)
    assert (done.exit_code, output.getvalue()) == (0, b"42\n")
    failed = run_in_pod(worker.access, where, ["sh", "-c", "exit 3"], output, lambda: None)
    assert failed.exit_code == 3


@of_both
def test_port_forward_reaches_a_program_in_a_pod(worker: Worker, tmp_path: Path) -> None:
    """Forward a port in a child process, because the client library leaves a closed connection open."""
    run = RunLab(NAME, worker.lab.kubeconfig)
    environment = {**run.environment(tmp_path), "PYTHONPATH": "collections", "KUBECONFIG": str(worker.lab.kubeconfig)}
    done = run.run_with(environment, "python", "-c", FORWARD)
    assert done.stdout.startswith("HTTP/1.0 200 OK"), done.stderr


@pytest.mark.deep
@mostly_of_root
def test_modules_of_kubernetes_core_reach_into_a_pod(worker: Worker, tmp_path: Path) -> None:
    (tmp_path / "there").write_text("copied")
    pod = {"namespace": SPACE, "pod": "server", "kubeconfig": str(worker.lab.kubeconfig)}
    copied = {**pod, "remote_path": "/tmp/copy", "container": "main"}
    tasks = [
        {"kubernetes.core.k8s_cp": {**copied, "local_path": str(tmp_path / "there")}},
        {"kubernetes.core.k8s_exec": {**pod, "command": "cat /tmp/copy"}, "register": "read"},
        {"kubernetes.core.k8s_cp": {**copied, "local_path": str(tmp_path / "back"), "state": "from_pod"}},
        {"kubernetes.core.k8s_log": {"namespace": SPACE, "name": "server", "kubeconfig": pod["kubeconfig"]}},
        {"ansible.builtin.assert": {"that": "read.stdout == 'copied'"}},
    ]
    playbook = tmp_path / "playbook.yml"
    playbook.write_text(yaml.safe_dump([{"hosts": "localhost", "gather_facts": False, "tasks": tasks}]))
    done = RunLab(NAME, worker.lab.kubeconfig).run(tmp_path, "ansible-playbook", str(playbook))
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "back").read_text() == "copied"


@pytest.mark.deep
@mostly_of_root
def test_loaded_image_runs_in_a_pod(worker: Worker) -> None:
    # which the user of the lab can read
    name, archive = "registry.invalid/team/tool:1", worker.labs.home / "tool.tar"
    # any program without libraries
    program = Path(str(worker.lab.programs["worker"].command[3]), "pause")
    with archive.open("wb") as file:
        images.write(Image(name, files={"/tool": program}, command=("/tool",)), file)
    done = worker.labs.run("image", "load", str(archive), "--name", NAME)
    assert (done.returncode, done.stdout) == (0, f"The lab 'worker' has the image {name}.\n"), done.stderr
    container = {"name": "main", "image": name}
    pod = {"metadata": {"name": "loaded"}, "spec": {**OPTED_IN, "containers": [container]}}
    worker.cluster.core.create_namespaced_pod(SPACE, pod)
    wait_for("the pod runs", lambda: is_ready(worker.cluster, "loaded"))


@of_root
def test_archive_that_containerd_refuses_is_reported(worker: Worker, tmp_path: Path) -> None:
    archive = tmp_path / "refused.tar"
    with tarfile.open(archive, "w") as opened:
        data = b'[{"Config": "missing.json", "RepoTags": ["a:1"], "Layers": []}]'
        entry = tarfile.TarInfo("manifest.json")
        entry.size = len(data)
        opened.addfile(entry, io.BytesIO(data))
    done = worker.labs.run("image", "load", str(archive), "--name", NAME)
    assert done.returncode == 3
    assert done.stderr.startswith(f"Error: containerd cannot import {archive} for "), done.stderr
    assert "missing.json" in done.stderr


@of_root
def test_metrics_server_has_the_usage_of_real_pods(worker: Worker) -> None:
    def names(plural: str) -> set[str]:
        found = worker.cluster.custom.list_cluster_custom_object("metrics.k8s.io", "v1beta1", plural)
        return {each["metadata"]["name"] for each in found["items"]}

    wait_for("the web server has metrics", lambda: names("pods") >= {"server"})
    assert "simulated" not in names("pods")
    assert names("nodes") == {real_node.NAME}


@pytest.mark.deep
@mostly_of_root
def test_killed_programs_of_the_node_are_started_again(worker: Worker) -> None:
    for program in ("kubelet", "containerd", "kube-proxy", "coredns"):
        (killed,) = node_processes(worker.lab, program)
        os.kill(killed, signal.SIGKILL)
        wait_for(f"another {program} runs", partial(is_restarted, worker.lab, program, killed))
    wait_for("the kubelet answers", lambda: reaches_pod(worker))
    url = "http://web.default.svc.cluster.local/"
    reads = f"import urllib.request; print(urllib.request.urlopen('{url}').status)"
    assert run_job(worker, "after-kills", "python3", "-c", reads) == "200\n"
    # the pods went on meanwhile
    status = worker.cluster.core.read_namespaced_pod_status("server", SPACE).status
    assert [each.restart_count for each in status.container_statuses] == [0]


def reaches_pod(worker: Worker) -> bool:
    done = io.BytesIO()
    try:
        run_in_pod(worker.access, (SPACE, "server", "main"), ["cat", "/etc/hostname"], done, lambda: None)
    except ClusterError:
        return False
    return done.getvalue() == b"server\n"


def node_processes(lab: Lab, program: str) -> set[int]:
    return {each.pid for each in process.find_marked(lab.folder) if machine.program(each.pid).endswith(f"/{program}")}


def is_restarted(lab: Lab, program: str, killed: int) -> bool:
    return bool(node_processes(lab, program) - {killed})


def is_gone(worker: Worker, kind: str) -> bool:
    return not machine.traces(worker.lab, worker.spaces)[kind]


@mostly_of_root
def test_killed_node_ends_completely_and_starts_again(worker: Worker) -> None:
    root = process.Identity(**worker.lab.document()["pids"]["worker"])
    os.kill(root.pid, signal.SIGKILL)
    wait_for("no program of the node runs", lambda: not node_processes(worker.lab, "containerd"))
    # the kernel removes networks a little later
    for kind in ("mounts", "links", "routes"):
        wait_for(f"no {kind} are left", partial(is_gone, worker, kind))
    assert machine.settings() == worker.before
    assert "worker" in worker.labs.get(NAME).dead_components()
    done = worker.labs.run("restart", "--name", NAME, "worker")
    assert done.returncode == 0, done.stderr
    assert run_job(worker, "after-restart", "python3", "-c", "print('again')") == "again\n"


@of_both
def test_down_leaves_nothing(worker: Worker) -> None:
    # of a node that was started again
    worker.spaces.update(machine.spaces(worker.lab))
    done = worker.labs.run("down", "--name", NAME)
    assert done.returncode == 0, done.stderr
    for kind in machine.traces(worker.lab, worker.spaces):
        wait_for(f"no {kind} are left", partial(is_gone, worker, kind))
    assert machine.settings() == worker.before
