"""The configuration of a real node's programs, rendered as text, and their command lines."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from perflab.cluster import real_node
from perflab.files import documents
from perflab.processes.program import Program
from perflab.processes.state import Lab
from perflab.worker import node
from perflab.worker.images import PAUSE
from perflab.worker.network import Network

_PODS = 250
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
      BinaryName = "{programs}/runc-plain"
      SystemdCgroup = false
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
            folder=self.folder, socket=node.CONTAINERD_SOCKET, pause=PAUSE, programs=self.programs
        )
        return {
            "containerd.toml": containerd,
            "cni/10-lab.conflist": json.dumps(self._cni(), indent=2),
            # JSON is YAML
            "kubelet.yaml": json.dumps(self._kubelet(), indent=2),
            "kube-proxy.yaml": json.dumps(self._kube_proxy(), indent=2),
            "Corefile": _COREFILE.format(kubeconfig=node.kubeconfig(self.lab, "coredns")),
        }

    def write(self) -> None:
        """Write the configuration files, and create the folders that the programs expect."""
        for name in ("cni", "kubelet", "pod-logs"):
            documents.private_folder(self.folder / name)
        for name, text in self.files().items():
            documents.write_private(self.folder / name, text)

    def early(self) -> list[Program]:
        """Return the programs that start first."""
        proxy = (f"--config={self.folder / 'kube-proxy.yaml'}", f"--hostname-override={real_node.NAME}")
        return [
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
            "cgroupRoot": f"/{node.cgroup(self.lab)}",
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
            # a setting of the whole machine
            "conntrack": {"maxPerCore": 0},
        }
