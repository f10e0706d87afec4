"""The command line of each program of a lab, and the URLs of its health and its metrics."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from perflab.building.sets import Binaries
from perflab.control_plane import aggregation
from perflab.control_plane.certificates import Pair
from perflab.control_plane.scheduler_config import complete_scheduler_config, read_scheduler_config
from perflab.control_plane.tuning import this_machine
from perflab.files import documents
from perflab.processes.ports import LOOPBACK
from perflab.processes.program import Program
from perflab.processes.state import Lab, Options
from perflab.profiles import OPENSHIFT, running
from perflab.worker import egress, network

MANIFESTS = Path(__file__).parent / "manifests"

# the name of the process that runs all emulators of a lab
EMULATORS = "emulators"
# the name of the process of --second-scheduler
SECOND_SCHEDULER = "second-scheduler"
# the names of the ports that every lab needs, one per program that listens on TCP
PORTS = (
    "etcd",
    "kube-apiserver",
    "kube-controller-manager",
    "kube-scheduler",
    "kwok",
    "kubelet",
    EMULATORS,
)

# A test may send thousands of requests per second: no limit except the CPU.
_QPS, _BURST = 5000, 10000
_CLIENT_LIMITS = (f"--kube-api-qps={_QPS}", f"--kube-api-burst={_BURST}")
# gang scheduling: PodGroup of scheduling.k8s.io/v1alpha2 and its topology, alpha in v1.36
_GANGS = "--feature-gates=" + ",".join(
    f"{gate}=true"
    for gate in ("GenericWorkload", "GangScheduling", "WorkloadAwarePreemption", "TopologyAwareWorkloadScheduling")
)
_POD_NETWORK = "10.128.0.1/14"
# simulated nodes send no heartbeats, and none is expected during the life of a lab
_NODE_GRACE = "8760h"


def port_names(options: Options) -> tuple[str, ...]:
    """Return the names of the ports that a lab needs."""
    profile = ("prometheus",) if options.profile == OPENSHIFT else ()
    schedulers = (SECOND_SCHEDULER,) if options.second_scheduler else ()
    products = running(options.profile, options.products).values()
    return (*PORTS, *profile, *schedulers, *(port for ports in products for port in ports))


@dataclass(frozen=True, slots=True)
class Credentials:
    """Files that the programs share: the authority's certificate, one server pair, keys and kubeconfigs.

    `front_proxy` has the authority and the client of :mod:`perflab.control_plane.aggregation`, if a program needs them.
    """

    authority: Pair
    server: Pair
    kubelet_client: Pair
    tokens: Pair
    kubeconfigs: dict[str, Path]
    front_proxy: tuple[Pair, Pair] | None = None


def etcd(lab: Lab, binaries: Binaries) -> Program:
    """Return the database, on Unix sockets in the lab's own folder: no other user reaches it.

    Its port only serves health and metrics.
    """
    metrics = f"http://{LOOPBACK}:{lab.ports['etcd']}"
    client, peer = "unix://etcd.sock", "unix://peer.sock"
    # etcd requires a host and a port to advertise; the API server uses the socket
    advertised = "http://localhost:2379"
    command: list[str | Path] = [
        binaries.program("etcd"),
        "--name=lab",
        f"--data-dir={lab.folder / 'data' / 'etcd'}",
        f"--listen-client-urls={client}",
        f"--advertise-client-urls={advertised}",
        f"--listen-peer-urls={peer}",
        f"--initial-advertise-peer-urls={advertised}",
        f"--initial-cluster=lab={advertised}",
        f"--listen-metrics-urls={metrics}",
        "--quota-backend-bytes=8589934592",
        "--auto-compaction-mode=periodic",
        "--auto-compaction-retention=10m",
        "--log-level=warn",
    ]
    if not lab.options.fsync:
        # transactions wait for the log, which is read again after a kill
        command += ["--unsafe-no-fsync", "--backend-batch-interval=1s"]
    return Program("etcd", tuple(command), f"{metrics}/readyz")


def apiserver(lab: Lab, binaries: Binaries, files: Credentials) -> Program:
    """Return the API server, without its limits on load."""
    command: list[str | Path] = [
        binaries.program("kube-apiserver"),
        "--etcd-servers=unix://etcd.sock",
        f"--bind-address={LOOPBACK}",
        f"--advertise-address={LOOPBACK}",
        f"--secure-port={lab.ports['kube-apiserver']}",
        # no pod reaches loopback: a lab with a real node has another address
        "--endpoint-reconciler-type=none",
        f"--tls-cert-file={files.server.certificate}",
        f"--tls-private-key-file={files.server.key}",
        f"--client-ca-file={files.authority.certificate}",
        f"--kubelet-client-certificate={files.kubelet_client.certificate}",
        f"--kubelet-client-key={files.kubelet_client.key}",
        f"--kubelet-certificate-authority={files.authority.certificate}",
        "--kubelet-preferred-address-types=InternalIP",
        "--authorization-mode=Node,RBAC",
        "--service-account-issuer=https://kubernetes.default.svc",
        f"--service-account-key-file={files.tokens.certificate}",
        f"--service-account-signing-key-file={files.tokens.key}",
        f"--service-cluster-ip-range={network.services(lab)}",
        "--enable-priority-and-fairness=false",
        "--max-requests-inflight=0",
        "--max-mutating-requests-inflight=0",
        # simulated nodes are created Ready: no taint to add and remove
        "--disable-admission-plugins=TaintNodesByCondition",
        _GANGS,
        "--runtime-config=scheduling.k8s.io/v1alpha2=true",
        *(aggregation.flags(*files.front_proxy) if files.front_proxy else ()),
    ]
    if lab.rootless:
        command += [f"--egress-selector-config-file={egress.write_configuration(lab)}"]
    if lab.options.audit:
        command += [
            f"--audit-policy-file={MANIFESTS / 'audit-policy.yaml'}",
            f"--audit-log-path={lab.folder / 'audit.log'}",
        ]
    health = f"{lab.server}/readyz"
    return Program("kube-apiserver", tuple(command), health, this_machine().environment())


def _api_access(kubeconfig: Path) -> tuple[str, ...]:
    """Return the options with which a program reads objects, and asks the API server about tokens of its clients."""
    return tuple(f"--{prefix}kubeconfig={kubeconfig}" for prefix in ("", "authentication-", "authorization-"))


def controller_manager(lab: Lab, binaries: Binaries, files: Credentials) -> Program:
    """Return the controllers, with enough workers for thousands of Jobs."""
    port = lab.ports["kube-controller-manager"]
    command: tuple[str | Path, ...] = (
        binaries.program("kube-controller-manager"),
        *_api_access(files.kubeconfigs["kube-controller-manager"]),
        # the administrator's certificate reads the metrics
        f"--client-ca-file={files.authority.certificate}",
        f"--bind-address={LOOPBACK}",
        f"--secure-port={port}",
        f"--tls-cert-file={files.server.certificate}",
        f"--tls-private-key-file={files.server.key}",
        f"--root-ca-file={files.authority.certificate}",
        # the other signers would watch files too, which a system limits per user
        f"--cluster-signing-kubelet-serving-cert-file={files.authority.certificate}",
        f"--cluster-signing-kubelet-serving-key-file={files.authority.key}",
        f"--service-account-private-key-file={files.tokens.key}",
        "--use-service-account-credentials=true",
        "--leader-elect=false",
        f"--concurrent-job-syncs={this_machine().job_workers}",
        "--concurrent-namespace-syncs=20",
        f"--node-monitor-grace-period={_NODE_GRACE}",
        "--node-monitor-period=30s",
        _GANGS,
        # profiles on request only, without samples of every lock
        "--contention-profiling=false",
        *_CLIENT_LIMITS,
    )
    return Program("kube-controller-manager", command, f"https://{LOOPBACK}:{port}/healthz")


def schedulers(lab: Lab, binaries: Binaries, files: Credentials) -> list[Program]:
    """Return the scheduler, and the second one if the lab has one."""
    configurations = {"kube-scheduler": lab.scheduler_config}
    if lab.options.second_scheduler:
        configurations[SECOND_SCHEDULER] = lab.second_scheduler_config
    return [_scheduler(name, path, lab, binaries, files) for name, path in configurations.items()]


def _scheduler(name: str, configuration: Path, lab: Lab, binaries: Binaries, files: Credentials) -> Program:
    port = lab.ports[name]
    kubeconfig = files.kubeconfigs["kube-scheduler"]
    command: tuple[str | Path, ...] = (
        binaries.program("kube-scheduler"),
        *_api_access(kubeconfig),
        # the administrator's certificate reads the metrics
        f"--client-ca-file={files.authority.certificate}",
        f"--bind-address={LOOPBACK}",
        f"--secure-port={port}",
        f"--tls-cert-file={files.server.certificate}",
        f"--tls-private-key-file={files.server.key}",
        "--leader-elect=false",
        _GANGS,
        # profiles on request only, without samples of every lock
        "--contention-profiling=false",
        *_CLIENT_LIMITS,
        *_scheduler_config(configuration, lab.folder / f"{name}.json", kubeconfig),
    )
    return Program(name, command, f"https://{LOOPBACK}:{port}/healthz")


def _scheduler_config(configuration: Path, completed: Path, kubeconfig: Path) -> tuple[str, ...]:
    if not configuration.exists():
        return ()
    document = read_scheduler_config(configuration)
    documents.write_json(completed, complete_scheduler_config(document, kubeconfig, _QPS, _BURST))
    return (f"--config={completed}",)


def kwok(lab: Lab, binaries: Binaries, files: Credentials) -> Program:
    """Return KWOK, which simulates the kubelets of the nodes."""
    port = lab.ports["kwok"]
    command = (
        binaries.program("kwok"),
        f"--kubeconfig={files.kubeconfigs['kwok']}",
        f"--config={_write_kwok_configuration(lab)}",
        f"--config={MANIFESTS / 'stages.yaml'}",
        f"--cidr={_POD_NETWORK}",
        f"--node-ip={LOOPBACK}",
        f"--node-port={lab.ports['kubelet']}",
        f"--server-address={LOOPBACK}:{port}",
        f"--tls-cert-file={files.server.certificate}",
        f"--tls-private-key-file={files.server.key}",
        "-v=WARN",
    )
    return Program("kwok", command, f"https://{LOOPBACK}:{port}/healthz")


def _write_kwok_configuration(lab: Lab) -> Path:
    workers = this_machine().stage_workers
    options = {
        "manageAllNodes": False,
        "manageNodesWithAnnotationSelector": "kwok.x-k8s.io/node=fake",
        # no leases: 1,000 nodes would renew 100 per second, and the controllers do not expect them
        "nodeLeaseDurationSeconds": 0,
        "nodePlayStageParallelism": workers,
        "podPlayStageParallelism": workers,
    }
    document = {"apiVersion": "config.kwok.x-k8s.io/v1alpha1", "kind": "KwokConfiguration", "options": options}
    path = lab.folder / "kwok.json"
    documents.write_json(path, document)
    return path


def kubelet(lab: Lab, python: str) -> Program:
    """Return the lab's own process that serves `kubectl logs` for all simulated nodes."""
    port = lab.ports["kubelet"]
    command = (python, "-m", "perflab.kubelet", str(port))
    return Program("kubelet", command, f"https://{LOOPBACK}:{port}/healthz")


def emulators(lab: Lab, python: str) -> Program:
    """Return the controllers that the lab emulates, all of them in one process."""
    port = lab.ports[EMULATORS]
    command = (python, "-m", "perflab.emulators", str(port))
    return Program(EMULATORS, command, f"http://{LOOPBACK}:{port}/healthz")


def metrics_endpoints(lab: Lab) -> dict[str, str]:
    """Return component → URL of its metrics; URLs with TLS require the administrator's client certificate."""
    endpoints = {"etcd": f"http://{LOOPBACK}:{lab.ports['etcd']}/metrics"}
    for name in ("kube-apiserver", "kube-controller-manager", "kube-scheduler"):
        endpoints[name] = f"https://{LOOPBACK}:{lab.ports[name]}/metrics"
    return endpoints
