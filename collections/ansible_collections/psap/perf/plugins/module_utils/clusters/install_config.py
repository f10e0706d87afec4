"""The install-config of a cluster on AWS, for openshift-install, and the changes of the manifests that it makes of it.

All fields are those of the installer's own types (``pkg/types`` and ``pkg/types/aws`` of openshift/installer); one that
is left to the installer is not written.
"""

from __future__ import annotations

import ipaddress
import itertools
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.cluster.manifests import Manifest

CLUSTER, LIGHT, SINGLE_NODE = "cluster", "light", "single_node"
_MASTERS = {CLUSTER: 3, LIGHT: 1, SINGLE_NODE: 1}
# of which openshift/api lets users have so many
_MOST_TAGS = 25
_TAG_KEY, _TAG_VALUE = re.compile(r"[\w.:/=+@-]{1,128}", re.ASCII), re.compile(r"[\w.:/=+@-]{1,256}", re.ASCII)
_RESERVED = re.compile(r"([^/]*\.)?(kubernetes|openshift)\.io/.*|aws:.*|name", re.IGNORECASE)
_DOMAIN = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)+")
_REGION = re.compile(r"[a-z]{2,}(-[a-z]+)+-\d+")
_SUBNET = re.compile(r"subnet-[0-9A-Za-z]{17}")
_RELEASE = re.compile(r"(\d+)\.(\d+)")
# since when subnets stand below vpc
_OF_VPC = (4, 19)


@dataclass(frozen=True, slots=True)
class Machines:
    """A pool of machines; what is empty or 0 is left to the installer.

    :param disk_size: of the root volume, in GiB.
    """

    type: str = ""
    disk_size: int = 0
    disk_type: str = ""
    zones: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Networks:
    """Address ranges of machines, pods and services, as CIDR."""

    machines: str = "10.0.0.0/16"
    pods: str = "10.128.0.0/14"
    host_prefix: int = 23
    services: str = "172.30.0.0/16"
    type: str = "OVNKubernetes"

    def check(self) -> None:
        """Refuse what no cluster can have.

        :raises UsageError: for what is no range, ranges that overlap, and a prefix that leaves no node any pod.
        """
        ranges = {name: _range(name, getattr(self, name)) for name in ("machines", "pods", "services")}
        for (one, first), (other, second) in itertools.combinations(ranges.items(), 2):
            if first.overlaps(second):
                raise UsageError(f"the networks of {one} ({first}) and {other} ({second}) overlap")
        if not ranges["pods"].prefixlen < self.host_prefix <= 26:
            raise UsageError(
                f"a node cannot have a /{self.host_prefix} of the network of pods {ranges['pods']}: the prefix is more "
                f"than {ranges['pods'].prefixlen} and 26 at most"
            )


@dataclass(frozen=True, slots=True)
class InstallPlan:
    """A cluster on AWS.

    :param topology: ``cluster`` has three masters; ``light`` one, and workers; ``single_node`` is one machine.
    :param spot: workers are spot instances, which AWS may take away at any time.
    :param subnets: IDs of subnets that there are already; a VPC of its own is created without.
    :param hosted_zone: ID of the private zone of Route 53 that there is already, with *subnets* only.
    :param propagate_tags: operators of the cluster tag what they create, too.
    :param release: of the installer, as ``4.19.2``, since fields move.
    """

    name: str
    base_domain: str
    region: str
    topology: str = CLUSTER
    control_plane: Machines = Machines()
    workers: Machines = Machines()
    workers_count: int = 3
    spot: bool = False
    architecture: str = "amd64"
    fips: bool = False
    publish: str = "External"
    networks: Networks = Networks()
    subnets: tuple[str, ...] = ()
    hosted_zone: str = ""
    tags: Mapping[str, str] = field(default_factory=dict)
    propagate_tags: bool = True
    release: str = "4.19"

    @property
    def workers_wanted(self) -> int:
        """Machines that only work; a single node works itself."""
        return 0 if self.topology == SINGLE_NODE else self.workers_count

    def check(self) -> None:
        """Refuse what the installer would refuse after a while, or what it would do otherwise than meant.

        :raises UsageError: for the first of these.
        """
        if self.topology not in _MASTERS:
            raise UsageError(f"{self.topology!r} is no topology; there are {', '.join(_MASTERS)}")
        if not _DOMAIN.fullmatch(self.base_domain):
            raise UsageError(f"{self.base_domain!r} is no base domain, such as perf.example.com")
        if not _REGION.fullmatch(self.region):
            raise UsageError(f"{self.region!r} is no region of AWS, such as us-east-2")
        if self.workers_wanted == 0 and self.topology != SINGLE_NODE:
            raise UsageError("a cluster without workers is a single_node, or a compact one, which is not made here")
        if self.spot and self.topology == SINGLE_NODE:
            raise UsageError("a single node cannot be a spot instance: it is the control plane")
        if self.hosted_zone and not self.subnets:
            raise UsageError("a hosted zone that there is already needs subnets that there are already")
        wrong = [subnet for subnet in self.subnets if not _SUBNET.fullmatch(subnet)]
        if wrong:
            raise UsageError(f"no IDs of subnets, such as subnet-0e953079d31ec4c74: {', '.join(wrong)}")
        self.networks.check()
        check_tags(self.tags)


def check_tags(tags: Mapping[str, str]) -> None:
    """Refuse tags that AWS or the installer does not take.

    :raises UsageError: for the first of these.
    """
    if len(tags) > _MOST_TAGS:
        raise UsageError(f"{len(tags)} tags are more than the {_MOST_TAGS} that a cluster can have")
    for key, value in tags.items():
        if not _TAG_KEY.fullmatch(key) or _RESERVED.fullmatch(key):
            raise UsageError(
                f"{key!r} is no key of a tag: letters, digits and _.:/=+@- only, and neither Name nor one that begins "
                "with aws:, kubernetes.io/ or openshift.io/"
            )
        if not _TAG_VALUE.fullmatch(value):
            raise UsageError(f"{value!r} is no value of tag {key}: 1 to 256 letters, digits and _.:/=+@-")


def install_config(plan: InstallPlan, pull_secret: str, ssh_key: str = "") -> dict[str, Any]:
    """The document that is ``install-config.yaml``; of these two arguments the first is secret.

    :raises UsageError: for a plan that cannot be.
    """
    plan.check()
    return {
        "apiVersion": "v1",
        "metadata": {"name": plan.name},
        "baseDomain": plan.base_domain,
        "controlPlane": _pool(plan, "master", _MASTERS[plan.topology], plan.control_plane),
        "compute": [_pool(plan, "worker", plan.workers_wanted, plan.workers)],
        "networking": {
            "networkType": plan.networks.type,
            "machineNetwork": [{"cidr": plan.networks.machines}],
            "clusterNetwork": [{"cidr": plan.networks.pods, "hostPrefix": plan.networks.host_prefix}],
            "serviceNetwork": [plan.networks.services],
        },
        "platform": {"aws": _platform(plan)},
        "publish": plan.publish,
        "fips": plan.fips,
        "pullSecret": pull_secret,
        **({"sshKey": ssh_key} if ssh_key else {}),
    }


def changed_manifests(plan: InstallPlan, manifests: Mapping[str, Manifest]) -> dict[str, Manifest]:
    """What of the installer's manifests is to be otherwise, and what comes to them, by paths below its folder.

    :param manifests: those that there are.
    :raises UsageError: when spot instances are wanted and there are no MachineSets to be changed.
    """
    changed: dict[str, Manifest] = {}
    if plan.spot:
        sets = {path: each for path, each in manifests.items() if each.get("kind") == "MachineSet"}
        if not sets:
            raise UsageError("the installer made no MachineSets, so that workers cannot be spot instances")
        changed |= {path: _on_spot(each) for path, each in sets.items()}
    if plan.topology == LIGHT:
        changed |= _of_one_master(manifests)
    return changed


def _of_one_master(manifests: Mapping[str, Manifest]) -> dict[str, Manifest]:
    """Operators that would else wait for three masters, or for two workers."""
    ingress = "manifests/cluster-ingress-default-ingresscontroller.yaml"
    there = manifests.get(ingress) or {
        "apiVersion": "operator.openshift.io/v1",
        "kind": "IngressController",
        "metadata": {"name": "default", "namespace": "openshift-ingress-operator"},
    }
    return {
        ingress: {**there, "spec": {**(there.get("spec") or {}), "replicas": 1}},
        "manifests/perf-etcd.yaml": _unsupported("Etcd", "useUnsupportedUnsafeNonHANonProductionUnstableEtcd"),
        "manifests/perf-authentication.yaml": _unsupported(
            "Authentication", "useUnsupportedUnsafeNonHANonProductionUnstableOAuthServer"
        ),
    }


def _unsupported(kind: str, name: str) -> Manifest:
    return {
        "apiVersion": "operator.openshift.io/v1",
        "kind": kind,
        "metadata": {"name": "cluster"},
        "spec": {"managementState": "Managed", "unsupportedConfigOverrides": {name: True}},
    }


def _on_spot(machine_set: Manifest) -> Manifest:
    spec = machine_set["spec"]
    inner = spec["template"]["spec"]
    provider = inner["providerSpec"]
    # at the price on demand at most
    value = {**provider["value"], "spotMarketOptions": {}}
    template = {**spec["template"], "spec": {**inner, "providerSpec": {**provider, "value": value}}}
    return {**machine_set, "spec": {**spec, "template": template}}


def _pool(plan: InstallPlan, name: str, replicas: int, machines: Machines) -> dict[str, Any]:
    platform = _machines(machines)
    return {
        "name": name,
        "replicas": replicas,
        "architecture": plan.architecture,
        "hyperthreading": "Enabled",
        "platform": {"aws": platform} if platform else {},
    }


def _machines(machines: Machines) -> dict[str, Any]:
    volume: dict[str, Any] = {}
    if machines.disk_size:
        # the installer wants both, or neither
        volume = {"size": machines.disk_size, "type": machines.disk_type or "gp3"}
    elif machines.disk_type:
        raise UsageError(f"a root volume of type {machines.disk_type} needs a size")
    found = {"type": machines.type, "zones": list(machines.zones), "rootVolume": volume}
    return {name: value for name, value in found.items() if value}


def _platform(plan: InstallPlan) -> dict[str, Any]:
    found: dict[str, Any] = {
        "region": plan.region,
        "userTags": dict(plan.tags),
        "propagateUserTags": plan.propagate_tags and bool(plan.tags),
        **_subnets(plan),
        "hostedZone": plan.hosted_zone,
    }
    return {name: value for name, value in found.items() if value}


def _subnets(plan: InstallPlan) -> dict[str, Any]:
    if not plan.subnets:
        return {}
    found = _RELEASE.match(plan.release)
    if found and tuple(map(int, found.groups())) < _OF_VPC:
        return {"subnets": list(plan.subnets)}
    return {"vpc": {"subnets": [{"id": subnet} for subnet in plan.subnets]}}


def _range(name: str, text: str) -> ipaddress.IPv4Network:
    try:
        return ipaddress.IPv4Network(text)
    except ValueError as error:
        raise UsageError(f"{text!r} is no IPv4 network of {name}, such as 10.0.0.0/16: {error}") from error


def user_tags(tags: Mapping[str, str], owner: str, launched: str, time_to_live: str) -> dict[str, str]:
    """The tags of all that a cluster is made of: those given, whose it is, since when, and for how long.

    :param launched: in UTC, as records have it.
    """
    own = {"User": owner, "LaunchTime": launched, "TimeToLive": time_to_live}
    return {**own, **{key: str(value) for key, value in tags.items()}}
