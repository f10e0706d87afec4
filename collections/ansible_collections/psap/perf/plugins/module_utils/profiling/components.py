"""The components of a cluster that have pprof endpoints, and the profiles that these return."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

API_SERVER = "apiserver"
CPU = "cpu"
PROFILES: Mapping[str, str] = {
    CPU: "profile",
    "heap": "heap",
    "allocs": "allocs",
    "goroutine": "goroutine",
    "mutex": "mutex",
    "block": "block",
}
"""The last part of a profile's path below /debug/pprof, by its name."""


@dataclass(frozen=True, slots=True)
class PodSelection:
    """Pods of a component.

    Attributes:
        secured: Whether the port has TLS and requires credentials.
    """

    namespace: str
    label_selector: str
    port: int
    secured: bool = True


def selections(kueue_port: int) -> Mapping[str, tuple[PodSelection, ...]]:
    """Return where the pods of each component may be: on Kubernetes, and on OpenShift."""
    return {
        "controller-manager": (
            PodSelection("kube-system", "component=kube-controller-manager", 10257),
            PodSelection("openshift-kube-controller-manager", "app=kube-controller-manager", 10257),
        ),
        "scheduler": (
            PodSelection("kube-system", "component=kube-scheduler", 10259),
            PodSelection("openshift-kube-scheduler", "app=openshift-kube-scheduler", 10259),
        ),
        "kueue": tuple(
            PodSelection(namespace, "control-plane=controller-manager", kueue_port, secured=False)
            for namespace in ("kueue-system", "openshift-kueue-operator")
        ),
    }


@dataclass(frozen=True, slots=True)
class ProfileTarget:
    """One profile of one program.

    Attributes:
        pod: Empty for the API server, which the cluster's address reaches.
    """

    component: str
    profile: str
    namespace: str = ""
    pod: str = ""
    port: int = 0
    secured: bool = True

    def path(self, duration_s: float) -> str:
        """Return the path with its query; only a CPU profile lasts."""
        query = f"?seconds={max(1, round(duration_s))}" if self.profile == CPU else ""
        return f"/debug/pprof/{PROFILES[self.profile]}{query}"

    @property
    def file(self) -> str:
        """Return the name of its file."""
        return "_".join(filter(None, (self.component, self.pod, self.profile))) + ".pb.gz"
