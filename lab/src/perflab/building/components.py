"""The programs of the lab: their Go modules, and the hash that names a set of binaries."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from perflab.building import definitions
from perflab.building.component import Component
from perflab.profiles import (
    ARGO,
    ENDPOINT_PICKER,
    JOBSET,
    KEDA,
    KSERVE,
    KUEUE,
    LWS,
    METRICS_SERVER,
    OLM,
    OPENSHIFT,
    RAY,
    TRAINER,
    TRAINING_OPERATOR,
    WORKER,
    real,
)

_KUBERNETES_VERSION = "k8s.io/component-base/version"
# without them, its programs report v0.0.0
_KUBERNETES_LINK_VALUES = (
    (f"{_KUBERNETES_VERSION}.gitVersion", "{version}"),
    (f"{_KUBERNETES_VERSION}.gitMajor", "{major}"),
    (f"{_KUBERNETES_VERSION}.gitMinor", "{minor}"),
)
_CONTROL_PLANE = "control-plane"
_ARGO = "github.com/argoproj/argo-workflows/v3"
_KEDA = "github.com/kedacore/keda/v2"
_CNI = "github.com/containernetworking/plugins"
_CONTAINERD = "github.com/containerd/containerd/v2"

COMPONENTS: tuple[Component, ...] = (
    Component(
        "etcd",
        "go.etcd.io/etcd/server/v3",
        (("etcd", "go.etcd.io/etcd/server/v3"),),
        cpu_s=45,
        go_module=_CONTROL_PLANE,
    ),
    Component(
        "kubernetes",
        "k8s.io/kubernetes",
        tuple(
            (program, f"k8s.io/kubernetes/cmd/{program}")
            for program in ("kube-apiserver", "kube-controller-manager", "kube-scheduler")
        ),
        link_values=_KUBERNETES_LINK_VALUES,
        cpu_s=560,
        go_module=_CONTROL_PLANE,
    ),
    Component(
        "kwok",
        "sigs.k8s.io/kwok",
        (("kwok", "sigs.k8s.io/kwok/cmd/kwok"),),
        link_values=(("sigs.k8s.io/kwok/pkg/consts.Version", "{version}"),),
        cpu_s=40,
        go_module=_CONTROL_PLANE,
    ),
)

# a separate set: only labs of one profile need it, and no other lab must wait for its build
PROMETHEUS: tuple[Component, ...] = (
    Component(
        "prometheus",
        "github.com/prometheus/prometheus",
        (("prometheus", "github.com/prometheus/prometheus/cmd/prometheus"),),
        link_values=(("github.com/prometheus/common/version.Version", "{version}"),),
        # without cloud clients for service discovery, which are half of the build
        tags="remove_all_sd",
        cpu_s=136,
    ),
)

# an S3 server for tests of exports; not part of a lab, and only built on request
S3_SERVER: tuple[Component, ...] = (
    Component(
        "versitygw",
        "github.com/versity/versitygw",
        (("versitygw", "github.com/versity/versitygw/cmd/versitygw"),),
        link_values=(("main.Version", "{version}"),),
    ),
)

# MinIO and its client, for images of the real node; only built on request
MINIO: tuple[Component, ...] = (
    Component("minio", "github.com/minio/minio", (("minio", "github.com/minio/minio"),), cpu_s=230),
    Component("mc", "github.com/minio/mc", (("mc", "github.com/minio/mc"),), cpu_s=160),
)

# each product is a separate set, too
PRODUCTS: Mapping[str, tuple[Component, ...]] = {
    KUEUE: (
        Component(
            "kueue",
            "sigs.k8s.io/kueue",
            (("kueue", "."),),
            link_values=(("sigs.k8s.io/kueue/pkg/version.GitVersion", "{version}"),),
            copies=(
                ("config/components/crd/bases", "kueue-crds"),
                ("config/components/webhook", "kueue-webhooks"),
            ),
            cpu_s=204,
        ),
    ),
    RAY: (
        Component(
            "kuberay",
            "github.com/ray-project/kuberay/ray-operator",
            (("kuberay", "."),),
            copies=(("config/crd/bases", "kuberay-crds"),),
            cpu_s=138,
        ),
    ),
    TRAINING_OPERATOR: (
        Component(
            "training-operator",
            "github.com/kubeflow/training-operator",
            (("training-operator", "."),),
            copies=(("manifests/base/crds", "training-operator-crds"),),
            cpu_s=110,
        ),
    ),
    JOBSET: (
        Component(
            "jobset",
            "sigs.k8s.io/jobset",
            (("jobset", "sigs.k8s.io/jobset"),),
            link_values=(("sigs.k8s.io/jobset/pkg/version.GitVersion", "{version}"),),
            copies=(("config/components/crd/bases", "jobset-crds"), ("config/components/webhook", "jobset-webhooks")),
            cpu_s=139,
        ),
    ),
    LWS: (
        Component(
            "lws",
            "sigs.k8s.io/lws",
            (("lws", "sigs.k8s.io/lws/cmd"),),
            link_values=(("sigs.k8s.io/lws/pkg/version.GitVersion", "{version}"),),
            copies=(("config/crd/bases", "lws-crds"), ("config/webhook", "lws-webhooks")),
            cpu_s=120,
        ),
    ),
    TRAINER: (
        Component(
            "trainer",
            "github.com/kubeflow/trainer/v2",
            (("trainer", "."),),
            copies=(("manifests/base", "trainer"),),
            cpu_s=100,
        ),
    ),
    OLM: (
        Component(
            "olm",
            "github.com/operator-framework/operator-lifecycle-manager",
            (("olm", "."),),
            cpu_s=261,
        ),
    ),
    KSERVE: (
        Component(
            "kserve",
            "github.com/kserve/kserve",
            (("kserve", "."),),
            copies=(("config", "kserve"),),
            # kinds for access to models, and for groups of pods
            further_copies=(
                ("sigs.k8s.io/gateway-api", "config/crd/standard", "gateway-crds"),
                ("sigs.k8s.io/lws", "config/crd/bases", "lws-crds"),
            ),
            cpu_s=250,
        ),
    ),
    KEDA: (
        Component(
            "keda",
            _KEDA,
            (("keda-operator", f"{_KEDA}/cmd/operator"),),
            link_values=((f"{_KEDA}/version.Version", "{version}"),),
            copies=(("config", "keda"),),
            cpu_s=1500,
        ),
        Component("keda-adapter", _KEDA, (("keda-adapter", "."),), cpu_s=60, go_module="keda"),
    ),
    ENDPOINT_PICKER: (
        Component(
            "endpoint-picker",
            "github.com/llm-d/llm-d-inference-scheduler",
            (("endpoint-picker", "."),),
            # tokenizers and ZeroMQ, in C
            left_out=("pkg/plugins/scorer/precise_prefix_cache.go",),
            cpu_s=165,
        ),
    ),
    WORKER: (
        Component(
            "kubernetes",
            "k8s.io/kubernetes",
            tuple((program, f"k8s.io/kubernetes/cmd/{program}") for program in ("kubelet", "kube-proxy")),
            link_values=_KUBERNETES_LINK_VALUES,
            cpu_s=44,
            go_module=_CONTROL_PLANE,
        ),
        Component(
            "worker/containerd",
            _CONTAINERD,
            tuple((name, f"{_CONTAINERD}/cmd/{name}") for name in ("containerd", "containerd-shim-runc-v2", "ctr")),
            link_values=((f"{_CONTAINERD}/version.Version", "{version}"),),
            tags="no_btrfs,no_devmapper,no_zfs,no_aufs",
            cpu_s=112,
        ),
        Component(
            "worker/cni",
            _CNI,
            (
                *((Path(name).name, f"{_CNI}/plugins/{name}") for name in ("main/ptp", "main/loopback")),
                *((Path(name).name, f"{_CNI}/plugins/{name}") for name in ("ipam/host-local", "meta/portmap")),
                ("pause", "."),
            ),
            cpu_s=12,
        ),
        Component(
            "worker/runc",
            "github.com/opencontainers/runc",
            (("runc", "github.com/opencontainers/runc"), ("runc-plain", ".")),
            cgo=True,
            cpu_s=22,
        ),
        Component("worker/coredns", "github.com/coredns/coredns", (("coredns", "."),), cpu_s=127),
    ),
    ARGO: (
        Component(
            "argo",
            _ARGO,
            (("workflow-controller", "."), ("argoexec", f"{_ARGO}/cmd/argoexec")),
            link_values=((f"{_ARGO}.version", "{version}"),),
            copies=(("manifests/base/crds/minimal", "argo-crds"),),
            cpu_s=330,
            symbolic_links=(("workflow/executor/osspecific/signal_linux.go", "signal_darwin.go"),),
        ),
    ),
    METRICS_SERVER: (
        Component(
            "metrics-server",
            "sigs.k8s.io/metrics-server",
            (("metrics-server", "sigs.k8s.io/metrics-server/cmd/metrics-server"),),
            link_values=(("k8s.io/client-go/pkg/version.gitVersion", "{version}"),),
            cpu_s=256,
        ),
    ),
}

_OLM_KINDS = (
    *("catalogsources", "clusterserviceversions", "installplans", "olmconfigs"),
    *("operatorconditions", "operatorgroups", "operators", "subscriptions"),
)
_CONFIGURATION = "payload-manifests/crds/0000_10_config-operator_01_"
_GENERATED = "zz_generated.crd-manifests/"

# Definitions of the profile openshift: a set without programs, which takes seconds, so that another version of it does
# not rebuild programs. A folder named after an emulator, or OLM, has the definitions that it needs from its start.
DEFINITIONS: tuple[Component, ...] = (
    Component(
        "definitions/openshift-api",
        "github.com/openshift/api",
        definitions=(
            (f"config/v1/{_GENERATED}0000_00_cluster-version-operator_01_clusteroperators.crd.yaml", "openshift"),
            (
                f"config/v1/{_GENERATED}0000_00_cluster-version-operator_01_clusterversions-Default.crd.yaml",
                "openshift",
            ),
            (f"{_CONFIGURATION}dnses.crd.yaml", "openshift"),
            (f"{_CONFIGURATION}infrastructures-Default.crd.yaml", "openshift"),
            (f"{_CONFIGURATION}ingresses.crd.yaml", "openshift"),
            (f"{_CONFIGURATION}oauths.crd.yaml", "openshift"),
            (f"{_CONFIGURATION}projects.crd.yaml", "openshift"),
            ("payload-manifests/crds/0000_03_config-operator_01_proxies.crd.yaml", "openshift"),
            ("payload-manifests/crds/0000_50_csi-driver_01_clustercsidrivers-Default.crd.yaml", "openshift"),
            (f"route/v1/{_GENERATED}routes.crd.yaml", "openshift"),
            ("payload-manifests/crds/0000_03_config-operator_01_securitycontextconstraints.crd.yaml", "openshift"),
            (f"machine/v1beta1/{_GENERATED}0000_10_machine-api_01_machines-Default.crd.yaml", "machines"),
            (f"machine/v1beta1/{_GENERATED}0000_10_machine-api_01_machinesets-Default.crd.yaml", "machines"),
            *(
                (f"machineconfiguration/v1/{_GENERATED}0000_80_machine-config_01_{kind}.crd.yaml", "machine_config")
                for kind in ("kubeletconfigs", "machineconfigpools-Default", "machineconfigs")
            ),
        ),
    ),
    Component(
        "definitions/network-attachment-definition-client",
        "github.com/k8snetworkplumbingwg/network-attachment-definition-client",
        definitions=(("artifacts/networks-crd.yaml", "openshift"),),
    ),
    Component(
        "definitions/operator-lifecycle-manager",
        "github.com/operator-framework/operator-lifecycle-manager",
        definitions=tuple((f"deploy/chart/crds/0000_50_olm_00-{kind}.crd.yaml", OLM) for kind in _OLM_KINDS),
    ),
)

PROGRAMS: tuple[str, ...] = tuple(program for part in COMPONENTS for program, _ in part.programs)


def sets_for(profile: str, products: Iterable[str] = ()) -> tuple[tuple[Component, ...], ...]:
    """Return the sets of programs for a lab of this profile with these products, each built and cached separately."""
    beside = [PROMETHEUS, DEFINITIONS] if profile == OPENSHIFT else []
    return (COMPONENTS, *beside, *(PRODUCTS[name] for name in real(profile, products) if name in PRODUCTS))


def versions(components: Sequence[Component] = COMPONENTS) -> dict[str, str]:
    """Return component name → pinned version."""
    return {component.name: component.version for component in components}


def lock_hash(components: Sequence[Component] = COMPONENTS, machine: str = platform.machine()) -> str:
    """Return 12 hexadecimal digits that change with any pinned module, build flag or kind of machine."""
    digest = hashlib.sha256(machine.encode())
    for component in components:
        digest.update(f"{component.programs} {component.linker_flags()} {component.copies}{component.tags}".encode())
        digest.update(b"cgo" if component.cgo else b"")
        digest.update("".join(" ".join(each) for each in component.further_copies).encode())
        digest.update("".join(" ".join(each) for each in component.symbolic_links).encode())
        digest.update(" ".join(component.left_out).encode())
        if component.definitions:
            digest.update(f"{component.definitions}".encode() + Path(definitions.__file__).read_bytes())
        for path in component.sources():
            digest.update(path.read_bytes())
    return digest.hexdigest()[:12]
