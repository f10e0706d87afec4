"""The install-config of a cluster on AWS, for openshift-install, and the changes of the manifests that it makes of it.

All fields are those of the installer's own types (``pkg/types`` and ``pkg/types/aws`` of openshift/installer); one that
is left to the installer is not written.
"""

from __future__ import annotations

import base64
import ipaddress
import itertools
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.kube_api.manifests import Manifest

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
# payloads of which the installer accepts machines of any architecture
_ANY_ARCHITECTURE = ("", "multi", "unknown")
_OVN = "ovnkubernetes"
# by lower-case name: plugins that the installer has dropped
_DROPPED_PLUGINS = ("openshiftsdn", "kuryr")
# address ranges that OVN-Kubernetes uses itself, by what it uses them for
_OVN_RANGES = {
    "OVN-Kubernetes's join subnet": "100.64.0.0/16",
    "OVN-Kubernetes's transit subnet": "100.88.0.0/16",
    "OVN-Kubernetes's masquerade subnet": "169.254.0.0/17",
}
_WIDEST_SERVICES = 12
# io1 and io2 need a number of I/O operations, AWS boots from neither st1 nor sc1
_DISK_TYPES = ("gp3", "gp2", "standard")
_FIPS_KEY = re.compile(r"ssh-rsa|ecdsa-sha2-nistp\d{3}")
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

    def check(self, region: str) -> None:
        """Refuse machines that *region* cannot have.

        :raises UsageError: for zones of another region, and for a root volume that the installer or AWS refuses.
        """
        elsewhere = [zone for zone in self.zones if not zone.startswith(region)]
        if elsewhere:
            raise UsageError(
                f"the zones {', '.join(elsewhere)} are not in the region {region}; set region and zones to match"
            )
        if self.disk_type and self.disk_type not in _DISK_TYPES:
            raise UsageError(
                f"a root volume of type {self.disk_type} is not possible; choose one of {', '.join(_DISK_TYPES)}"
            )
        if self.disk_size < 0:
            raise UsageError(f"a root volume of {self.disk_size} GiB is not possible; give a positive size")
        if self.disk_type and not self.disk_size:
            raise UsageError(f"a root volume of type {self.disk_type} needs a size")


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

        :raises UsageError: for a plugin that the installer has dropped, what is no range, ranges that overlap each
            other or those of the plugin, and a prefix that leaves no node any pod.
        """
        if self.type.lower() in _DROPPED_PLUGINS:
            raise UsageError(f"the installer does not support the network plugin {self.type}; use OVNKubernetes")
        ranges = {name: _range(name, getattr(self, name)) for name in ("machines", "pods", "services")}
        own = {name: ipaddress.IPv4Network(text) for name, text in _OVN_RANGES.items()}
        taken = ranges | (own if self.type.lower() == _OVN else {})
        for (one, first), (other, second) in itertools.combinations(taken.items(), 2):
            if first.overlaps(second):
                raise UsageError(f"the networks of {one} ({first}) and {other} ({second}) overlap")
        if ranges["services"].prefixlen < _WIDEST_SERVICES:
            raise UsageError(f"the network of services {ranges['services']} is larger than a /{_WIDEST_SERVICES}")
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
    :param ssh_key: public key that reaches the machines; empty for none.
    :param release: of the installer, as ``4.19.2``, since fields move.
    :param payload: architecture of that release, as the installer prints it; empty for one that it does not print.
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
    ssh_key: str = ""
    release: str = "4.19"
    payload: str = ""

    @property
    def workers_wanted(self) -> int:
        """Machines that only work; a single node works itself."""
        return 0 if self.topology == SINGLE_NODE else self.workers_count

    def check(self) -> None:
        """Refuse what the installer would refuse after a while, or what it would do otherwise than meant.

        :raises UsageError: for the first of these.
        """
        if self.topology not in _MASTERS:
            raise UsageError(f"{self.topology!r} is not a topology; there are {', '.join(_MASTERS)}")
        if not _DOMAIN.fullmatch(self.base_domain):
            raise UsageError(f"{self.base_domain!r} is not a base domain, such as perf.example.com")
        if not _REGION.fullmatch(self.region):
            raise UsageError(f"{self.region!r} is not a region of AWS, such as us-east-2")
        if self.workers_wanted < 1 and self.topology != SINGLE_NODE:
            raise UsageError("a cluster without workers is a single_node, or a compact one, which is not made here")
        if self.spot and self.topology == SINGLE_NODE:
            raise UsageError("a single node cannot be a spot instance: it is the control plane")
        if self.payload not in (self.architecture, *_ANY_ARCHITECTURE):
            raise UsageError(
                f"the installer's release has machines of {self.payload} only, not of {self.architecture}; use the "
                f"installer of a multi-architecture release, or machines of {self.payload}"
            )
        self._check_subnets()
        self._check_key()
        for machines in (self.control_plane, self.workers):
            machines.check(self.region)
        self.networks.check()
        check_tags(self.tags)

    def _check_subnets(self) -> None:
        if self.hosted_zone and not self.subnets:
            raise UsageError("a hosted zone that there is already needs subnets that there are already")
        wrong = [subnet for subnet in self.subnets if not _SUBNET.fullmatch(subnet)]
        if wrong:
            raise UsageError(f"no IDs of subnets, such as subnet-0e953079d31ec4c74: {', '.join(wrong)}")
        repeated = sorted({subnet for subnet in self.subnets if self.subnets.count(subnet) > 1})
        if repeated:
            raise UsageError(f"subnets are listed more than once: {', '.join(repeated)}")

    def _check_key(self) -> None:
        algorithm = key_algorithm(self.ssh_key) if self.ssh_key else ""
        if self.fips and algorithm and not _FIPS_KEY.fullmatch(algorithm):
            raise UsageError(
                f"a cluster with FIPS cryptography does not accept an SSH key of type {algorithm}; "
                "use an RSA or ECDSA key"
            )


def key_algorithm(ssh_key: str) -> str:
    """Return the algorithm of a public SSH key, such as ``ssh-ed25519``.

    :raises UsageError: if *ssh_key* is no public key. The message does not show it: it may be a private one.
    """
    algorithm, encoded = (*ssh_key.split(maxsplit=2), "", "")[:2]
    try:
        content = base64.b64decode(encoded, validate=True)
    except ValueError:
        content = b""
    # the key repeats its algorithm, after the length in four bytes
    if not encoded or not content[4:].startswith(algorithm.encode()):
        raise UsageError("the SSH key is not a public key, such as the content of ~/.ssh/id_ecdsa.pub")
    return algorithm


def check_tags(tags: Mapping[str, str]) -> None:
    """Refuse tags that AWS or the installer does not take.

    :raises UsageError: for the first of these.
    """
    if len(tags) > _MOST_TAGS:
        raise UsageError(f"{len(tags)} tags are more than the {_MOST_TAGS} that a cluster can have")
    for key, value in tags.items():
        if not _TAG_KEY.fullmatch(key) or _RESERVED.fullmatch(key):
            raise UsageError(
                f"{key!r} is not a key of a tag: use letters, digits and _.:/=+@-, not Name nor a key that begins "
                "with aws:, kubernetes.io/ or openshift.io/"
            )
        if not _TAG_VALUE.fullmatch(value):
            raise UsageError(f"{value!r} is not a value of tag {key}: 1 to 256 letters, digits and _.:/=+@-")


def check_pull_secret(text: str) -> None:
    """Refuse what is no pull secret. The message names registries only.

    :raises UsageError: unless it is JSON whose ``auths`` has credentials for each registry.
    """
    try:
        auths = json.loads(text)["auths"]
        bare = [registry for registry, entry in auths.items() if not {"auth", "credsStore"} & set(entry)]
    except (ValueError, TypeError, KeyError, AttributeError):
        auths, bare = {}, []
    if not auths:
        raise UsageError("the pull secret is no JSON with auths, as the console of Red Hat OpenShift offers it")
    if bare:
        raise UsageError(f"the pull secret has no credentials (auth) for {', '.join(bare)}")


def install_config(plan: InstallPlan, pull_secret: str) -> dict[str, Any]:
    """The document that is ``install-config.yaml``; *pull_secret* is secret.

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
        **({"sshKey": plan.ssh_key} if plan.ssh_key else {}),
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
        volume = {"size": machines.disk_size, "type": machines.disk_type or _DISK_TYPES[0]}
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
        found = ipaddress.IPv4Network(text)
    except ValueError as error:
        raise UsageError(f"{text!r} is not an IPv4 network of {name}, such as 10.0.0.0/16: {error}") from error
    if found.network_address.is_unspecified:
        raise UsageError(f"{text!r} is not an IPv4 network of {name}, such as 10.0.0.0/16: it has no address")
    return found


def user_tags(tags: Mapping[str, str], owner: str, launched: str, time_to_live: str) -> dict[str, str]:
    """The tags of all that a cluster is made of: those given, whose it is, since when, and for how long.

    :param launched: in UTC, as records have it.
    """
    own = {"User": owner, "LaunchTime": launched, "TimeToLive": time_to_live}
    return {**own, **{key: str(value) for key, value in tags.items()}}
