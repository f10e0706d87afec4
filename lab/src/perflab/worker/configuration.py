"""The configuration of a real node's programs, rendered as text, and their command lines."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from perflab.cluster import real_node
from perflab.files import documents
from perflab.processes.process import MARK
from perflab.processes.program import Program
from perflab.processes.state import Lab, read_lab
from perflab.worker import network, node, runc_rootless
from perflab.worker.images import PAUSE
from perflab.worker.network import Network

_PODS = 250
_WRAPPER = "runc-rootless"
_WITHOUT_CGROUPS: Mapping[str, Any] = {"featureGates": {"KubeletInUserNamespace": True}, "cgroupsPerQOS": False}
_WITHOUT_CONNTRACK: Mapping[str, Any] = {"min": 0, "tcpEstablishedTimeout": "0s", "tcpCloseWaitTimeout": "0s"}
_CONTAINERD = """\
version = 3
root = "{folder}/containerd"
state = "/run/containerd"
oom_score = 0
disabled_plugins = [
  "io.containerd.nri.v1.nri", "io.containerd.internal.v1.opt",
  "io.containerd.tracing.processor.v1.otlp", "io.containerd.internal.v1.tracing",
]
[grpc]
  address = "{socket}"
[plugins.'io.containerd.cri.v1.images'.pinned_images]
  sandbox = "{pause}"
[plugins.'io.containerd.cri.v1.runtime']
  restrict_oom_score_adj = true
  disable_apparmor = true
  tolerate_missing_hugetlb_controller = true
  [plugins.'io.containerd.cri.v1.runtime'.cni]
    bin_dirs = ["{programs}"]
    conf_dir = "{folder}/cni"
  [plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
    [plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc.options]
      BinaryName = "{runc}"
      SystemdCgroup = false
"""
# only these commands have a specification that needs a change
_RUNC_ROOTLESS = """\
#!/bin/sh
for argument; do
  case $argument in create|exec) exec {python} -IS {adapting} {runc} "$@" ;; esac
done
exec {runc} --rootless=true "$@"
"""
_COREFILE = """\
.:53 {{
  ready 127.0.0.1:8181
  errors
  cache 5
  kubernetes cluster.local in-addr.arpa {{
    kubeconfig {kubeconfig}
    ttl 5
  }}
}}
"""


@dataclass(frozen=True, slots=True)
class Node:
    """A lab's real node, with the folder of its programs."""

    lab: Lab
    network: Network
    programs: Path

    @property
    def folder(self) -> Path:
        """Return the folder of its files."""
        return node.folder(self.lab)

    def files(self) -> Mapping[str, str]:
        """Return path below :attr:`folder` → contents of each configuration file."""
        containerd = _CONTAINERD.format(
            folder=self.folder,
            socket=node.CONTAINERD_SOCKET,
            pause=PAUSE,
            programs=self.programs,
            runc=self.folder / _WRAPPER if self.lab.rootless else self._runc,
        )
        return {
            "containerd.toml": containerd,
            "cni/10-lab.conflist": json.dumps(self._cni(), indent=2),
            # JSON is YAML
            "kubelet.yaml": json.dumps(self._kubelet(), indent=2),
            "kube-proxy.yaml": json.dumps(self._kube_proxy(), indent=2),
            "Corefile": _COREFILE.format(kubeconfig=node.kubeconfig(self.lab, "coredns")),
            **({_WRAPPER: self._runc_rootless()} if self.lab.rootless else {}),
        }

    def write(self) -> None:
        """Write the configuration files, and create the folders that the programs expect."""
        for name in ("cni", "kubelet", "pod-logs"):
            documents.private_folder(self.folder / name)
        for name, text in self.files().items():
            documents.write_private(self.folder / name, text)
        if self.lab.rootless:
            (self.folder / _WRAPPER).chmod(0o700)

    def early(self) -> list[Program]:
        """Return the programs that start first."""
        proxy = (f"--config={self.folder / 'kube-proxy.yaml'}", f"--hostname-override={real_node.NAME}")
        tunnel = Program("tunnel", (sys.executable, "-m", f"{__package__}.tunnel"))
        return [
            *([tunnel] if self.lab.rootless else []),
            self._program("containerd", f"--config={self.folder / 'containerd.toml'}", "--log-level=warn"),
            self._program("kube-proxy", *proxy),
            self._program("coredns", "-conf", f"{self.folder / 'Corefile'}"),
        ]

    def kubelet(self) -> Program:
        """Return the kubelet, which starts once containerd has the images."""
        return self._program(
            "kubelet",
            f"--config={self.folder / 'kubelet.yaml'}",
            f"--kubeconfig={node.kubeconfig(self.lab, node.KUBELET_CLIENT)}",
            f"--hostname-override={real_node.NAME}",
            f"--node-ip={self.network.node}",
            f"--node-labels={real_node.REAL}=true",
        )

    def importing(self, archive: Path, root: str = "") -> list[str]:
        """Return the command that gives images to containerd; *root* is the node's root folder, outside of it."""
        client = [str(self.programs / "ctr"), "--address", f"{root}{node.CONTAINERD_SOCKET}", "--namespace", "k8s.io"]
        return [*client, "images", "import", "--local", str(archive)]

    def _program(self, name: str, *arguments: str) -> Program:
        return Program(name, (self.programs / name, *arguments))

    @property
    def _runc(self) -> Path:
        return self.programs / "runc-plain"

    def _runc_rootless(self) -> str:
        paths = {"python": Path(sys.executable), "adapting": Path(runc_rootless.__file__), "runc": self._runc}
        return _RUNC_ROOTLESS.format_map({name: shlex.quote(str(path)) for name, path in paths.items()})

    def _cni(self) -> dict[str, Any]:
        ranges = {
            "type": "host-local",
            "ranges": [[{"subnet": str(self.network.pods)}]],
            "dataDir": "/run/cni",
            "routes": [{"dst": "0.0.0.0/0"}],
        }
        # not a bridge: with it, a pod that calls itself through a Service needs a setting of the whole machine
        cable = {"type": "ptp", "ipMasq": False, "ipam": ranges}
        ports = {"type": "portmap", "backend": "nftables", "capabilities": {"portMappings": True}}
        return {"cniVersion": "1.0.0", "name": "lab", "plugins": [cable, ports]}

    def _kubelet(self) -> dict[str, Any]:
        pki = self.lab.folder / "pki"
        return {
            "apiVersion": "kubelet.config.k8s.io/v1beta1",
            "kind": "KubeletConfiguration",
            "address": self.network.node,
            "healthzBindAddress": "127.0.0.1",
            "authentication": {
                "anonymous": {"enabled": False},
                "webhook": {"enabled": True},
                "x509": {"clientCAFile": str(pki / "ca.crt")},
            },
            "authorization": {"mode": "Webhook"},
            "tlsCertFile": str(pki / f"{node.KUBELET_SERVER}.crt"),
            "tlsPrivateKeyFile": str(pki / f"{node.KUBELET_SERVER}.key"),
            "containerRuntimeEndpoint": f"unix://{node.CONTAINERD_SOCKET}",
            "cgroupDriver": "cgroupfs",
            **(_WITHOUT_CGROUPS if self.lab.rootless else {"cgroupRoot": f"/{node.cgroup(self.lab)}"}),
            "failCgroupV1": False,
            "failSwapOn": False,
            "enforceNodeAllocatable": [],
            "evictionHard": {
                "memory.available": "100Mi",
                **dict.fromkeys(("nodefs.available", "imagefs.available"), "0%"),
                **dict.fromkeys(("nodefs.inodesFree", "imagefs.inodesFree"), "0%"),
            },
            # an image that is deleted cannot be pulled again
            "imageGCHighThresholdPercent": 100,
            "clusterDNS": [self.network.node],
            "clusterDomain": "cluster.local",
            # names of this machine's network are of no use in pods, and its file may be hidden from the node
            "resolvConf": "",
            "registerWithTaints": [{"key": real_node.REAL, "value": "true", "effect": "NoSchedule"}],
            "maxPods": _PODS,
            "runtimeRequestTimeout": "10m",
            "oomScoreAdj": 0,
            "kubeAPIQPS": 500,
            "kubeAPIBurst": 1000,
            "serializeImagePulls": False,
            "podLogsDir": "/var/log/pods",
        }

    def _kube_proxy(self) -> dict[str, Any]:
        return {
            "apiVersion": "kubeproxy.config.k8s.io/v1alpha1",
            "kind": "KubeProxyConfiguration",
            "mode": "nftables",
            "clientConnection": {"kubeconfig": str(node.kubeconfig(self.lab, "kube-proxy"))},
            "healthzBindAddress": "127.0.0.1:10256",
            "metricsBindAddress": "127.0.0.1:10249",
            "nodePortAddresses": ["primary"],
            # settings of the whole machine
            "conntrack": {"maxPerCore": 0, **(_WITHOUT_CONNTRACK if self.lab.rootless else {})},
        }


def this_node(programs: Path) -> Node:
    """Return the node of the lab to which this process belongs."""
    folder = Path(os.environ[MARK])
    lab = read_lab(folder.parent, folder.name)
    assert isinstance(lab, Lab)  # noqa: S101  the lab started this process
    addresses = network.of(lab)
    assert addresses is not None  # noqa: S101  and has a real node
    return Node(lab, addresses, programs)
