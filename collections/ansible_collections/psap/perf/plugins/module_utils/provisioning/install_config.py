"""Write the install-config of a cluster on AWS for openshift-install, and change the manifests that it generates.

The fields are those of the installer's types (``pkg/types`` and ``pkg/types/aws`` of openshift/installer); fields with
the installer's default are omitted.
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
# the limit of openshift/api for tags of users
_MOST_TAGS = 25
_TAG_KEY, _TAG_VALUE = re.compile(r"[\w.:/=+@-]{1,128}", re.ASCII), re.compile(r"[\w.:/=+@-]{1,256}", re.ASCII)
_RESERVED = re.compile(r"([^/]*\.)?(kubernetes|openshift)\.io/.*|aws:.*|name", re.IGNORECASE)
_DOMAIN = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)+")
_REGION = re.compile(r"[a-z]{2,}(-[a-z]+)+-\d+")
_SUBNET = re.compile(r"subnet-[0-9A-Za-z]{17}")
_RELEASE = re.compile(r"(\d+)\.(\d+)")
# payloads with which the installer accepts machines of any architecture
_ANY_ARCHITECTURE = ("", "multi", "unknown")
_OVN = "ovnkubernetes"
# by lower-case name: plugins that the installer has dropped
_DROPPED_PLUGINS = ("openshiftsdn", "kuryr")
# address ranges that OVN-Kubernetes uses itself, by purpose
_OVN_RANGES = {
    "OVN-Kubernetes's join subnet": "100.64.0.0/16",
    "OVN-Kubernetes's transit subnet": "100.88.0.0/16",
    "OVN-Kubernetes's masquerade subnet": "169.254.0.0/17",
}
_WIDEST_SERVICES = 12
# io1 and io2 need a number of I/O operations, AWS boots from neither st1 nor sc1
_DISK_TYPES = ("gp3", "gp2", "standard")
_FIPS_KEY = re.compile(r"ssh-rsa|ecdsa-sha2-nistp\d{3}")
# the first release with the field vpc for subnets
_OF_VPC = (4, 19)


@dataclass(frozen=True, slots=True)
class Machines:
    """A pool of machines; empty fields and 0 mean the installer's default.

    Args:
        disk_size: Size of the root volume in GiB.
    """

    type: str = ""
    disk_size: int = 0
    disk_type: str = ""
    zones: tuple[str, ...] = ()

    def check(self, region: str) -> None:
        """Raise a UsageError for zones of another region, and a root volume that the installer or AWS refuses."""
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
            raise UsageError(f"a root volume of {self.disk_size} GiB is not possible; set a positive size")
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
        """Raise a UsageError for a dropped plugin, invalid or overlapping ranges, or a prefix without room for pods."""
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

    Args:
        topology: ``cluster`` has three masters; ``light`` one, and workers; ``single_node`` is one machine.
        spot: Workers are spot instances, which AWS may terminate at any time.
        subnets: IDs of existing subnets; if empty, a VPC is created.
        hosted_zone: ID of an existing private zone of Route 53, with *subnets* only.
        propagate_tags: Operators of the cluster also tag the resources that they create.
        ssh_key: Public key for access to the machines; empty for none.
        release: Release of the installer, such as ``4.19.2``, which determines the fields.
        payload: Architecture of that release, as the installer prints it; empty if it prints none.
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
        """Return the number of workers; a single node has no others."""
        return 0 if self.topology == SINGLE_NODE else self.workers_count

    def check(self) -> None:
        """Raise a UsageError for the first field that the installer would refuse later, or apply differently."""
        if self.topology not in _MASTERS:
            raise UsageError(f"unknown topology {self.topology!r}; known: {', '.join(_MASTERS)}")
        if not _DOMAIN.fullmatch(self.base_domain):
            raise UsageError(f"{self.base_domain!r} is not a base domain, such as perf.example.com")
        if not _REGION.fullmatch(self.region):
            raise UsageError(f"{self.region!r} is not a region of AWS, such as us-east-2")
        if self.workers_wanted < 1 and self.topology != SINGLE_NODE:
            raise UsageError("a cluster without workers is not supported; set the topology single_node or add workers")
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
            raise UsageError("an existing hosted zone needs existing subnets")
        wrong = [subnet for subnet in self.subnets if not _SUBNET.fullmatch(subnet)]
        if wrong:
            raise UsageError(f"invalid IDs of subnets: {', '.join(wrong)}; write them like subnet-0e953079d31ec4c74")
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

    Raises:
        UsageError: If *ssh_key* is not a public key; the message does not contain it, since it may be a private one.
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
    """Raise a UsageError for the first tag that AWS or the installer does not accept."""
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
    """Check that a pull secret is JSON whose ``auths`` has credentials for each registry.

    Raises:
        UsageError: If it is not; the message contains registries only.
    """
    try:
        auths = json.loads(text)["auths"]
        bare = [registry for registry, entry in auths.items() if not {"auth", "credsStore"} & set(entry)]
    except (ValueError, TypeError, KeyError, AttributeError):
        auths, bare = {}, []
    if not auths:
        raise UsageError("the pull secret is not JSON with auths; download it from the console of Red Hat OpenShift")
    if bare:
        raise UsageError(f"the pull secret has no credentials (auth) for {', '.join(bare)}")


def install_config(plan: InstallPlan, pull_secret: str) -> dict[str, Any]:
    """Return the document of ``install-config.yaml``, which contains *pull_secret*.

    Raises:
        UsageError: If the plan is invalid.
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
    """Return changed and additional manifests, by paths below the installer's folder.

    Args:
        manifests: The installer's manifests.

    Raises:
        UsageError: If the plan has spot instances, but the installer created no MachineSets.
    """
    changed: dict[str, Manifest] = {}
    if plan.spot:
        sets = {path: each for path, each in manifests.items() if each.get("kind") == "MachineSet"}
        if not sets:
            raise UsageError("the installer created no MachineSets, so that workers cannot be spot instances")
        changed |= {path: _on_spot(each) for path, each in sets.items()}
    if plan.topology == LIGHT:
        changed |= _of_one_master(manifests)
    return changed


def _of_one_master(manifests: Mapping[str, Manifest]) -> dict[str, Manifest]:
    """Return the manifests of operators that would otherwise wait for three masters, or for two workers."""
    ingress = "manifests/cluster-ingress-default-ingresscontroller.yaml"
    controller = manifests.get(ingress) or {
        "apiVersion": "operator.openshift.io/v1",
        "kind": "IngressController",
        "metadata": {"name": "default", "namespace": "openshift-ingress-operator"},
    }
    return {
        ingress: {**controller, "spec": {**(controller.get("spec") or {}), "replicas": 1}},
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
    # without a maximum price, AWS uses the on-demand price
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
        # the installer requires both, or neither
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
    """Return *tags* and those with the owner, the begin (in UTC, as in records) and the lifetime of a cluster."""
    own = {"User": owner, "LaunchTime": launched, "TimeToLive": time_to_live}
    return {**own, **{key: str(value) for key, value in tags.items()}}
