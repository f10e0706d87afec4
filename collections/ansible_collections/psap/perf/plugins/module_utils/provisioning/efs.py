"""Create, find and delete a file system of AWS (EFS) that the nodes of a cluster mount.

Its resources have the tag of those that the cluster owns, so that openshift-install destroys them with the cluster.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError, UsageError
from ansible_collections.psap.perf.plugins.module_utils.kube_api.manifests import Manifest
from ansible_collections.psap.perf.plugins.module_utils.provisioning.aws import OWNED, Amazon, aws_errors, tag_of
from ansible_collections.psap.perf.plugins.module_utils.waiting.polling import poll_until

_NFS = 2049
_AVAILABLE = "available"


@dataclass(frozen=True, slots=True)
class FileSystem:
    """The resources of the file system; *changed* is whether any was created now."""

    identity: str
    security_group: str
    mount_targets: tuple[str, ...]
    changed: bool


def instances_of(nodes: Iterable[Manifest]) -> list[str]:
    """Return the machines of nodes by their provider IDs, such as ``aws:///us-east-2a/i-0abc``.

    Raises:
        UsageError: If none is in AWS.
    """
    provided = (str((node.get("spec") or {}).get("providerID", "")) for node in nodes)
    found = sorted(each.rpartition("/")[2] for each in provided if each.startswith("aws://"))
    if not found:
        raise UsageError("no node of this cluster is a machine of AWS; the file system needs a cluster on AWS")
    return found


class Efs:
    """The file system of a cluster; every call raises a ClusterError if AWS cannot be reached or refuses."""

    def __init__(self, amazon: Amazon, infra_id: str) -> None:
        self._infra_id, self._region = infra_id, amazon.region
        with aws_errors(f"reach AWS in {amazon.region}"):
            self._ec2, self._efs = amazon.client("ec2"), amazon.client("efs")
        self.name = f"{infra_id}-efs"
        self._tags = [{"Key": "Name", "Value": self.name}, {"Key": tag_of(infra_id), "Value": OWNED}]

    def find(self) -> str:
        """Return its ID; empty if it is missing."""
        with aws_errors(f"find the file system {self.name}"):
            found = self._efs.describe_file_systems(CreationToken=self.name)["FileSystems"]
        return str(found[0]["FileSystemId"]) if found else ""

    def deploy(
        self, instances: list[str], timeout_s: float, check: Callable[[], None], show: Callable[[str], None]
    ) -> FileSystem:
        """Create it with a mount target in each zone that has nodes, and wait until it can be mounted.

        Raises:
            WaitTimeoutError: If it is not available in time.
        """
        with aws_errors(f"create the file system {self.name}"):
            network, subnets = self._network_of(instances)
            group, created = self._security_group(network)
            identity = self.find()
            if not identity:
                made = self._efs.create_file_system(CreationToken=self.name, Encrypted=True, Tags=self._tags)
                identity, created = str(made["FileSystemId"]), True
            poll_until(
                lambda: self._state(self._efs.describe_file_systems(FileSystemId=identity)["FileSystems"]),
                f"the file system {identity} was not available",
                timeout_s,
                check,
                show,
            )
            present = {target["AvailabilityZoneName"] for target in self._targets(identity)}
            for zone, subnet in subnets.items():
                if zone not in present:
                    self._efs.create_mount_target(FileSystemId=identity, SubnetId=subnet, SecurityGroups=[group])
                    created = True
            poll_until(
                lambda: self._state(self._targets(identity)),
                f"the mount targets of {identity} were not available",
                timeout_s,
                check,
                show,
            )
            targets = sorted(str(target["MountTargetId"]) for target in self._targets(identity))
        return FileSystem(identity, group, tuple(targets), created)

    def undeploy(self, timeout_s: float, check: Callable[[], None], show: Callable[[str], None]) -> bool:
        """Delete it with its content, even if its creation is incomplete, and return whether anything existed.

        Raises:
            WaitTimeoutError: If it is not deleted in time.
        """
        identity = self.find()
        with aws_errors(f"delete the file system {self.name}"):
            if identity:
                for target in self._targets(identity):
                    if target["LifeCycleState"] != "deleting":
                        self._efs.delete_mount_target(MountTargetId=target["MountTargetId"])
                poll_until(
                    lambda: (not self._targets(identity), "deleting"),
                    f"the mount targets of {identity} were not deleted",
                    timeout_s,
                    check,
                    show,
                )
                self._efs.delete_file_system(FileSystemId=identity)
            groups = self._groups()
            for group in groups:
                self._ec2.delete_security_group(GroupId=group)
        return bool(identity or groups)

    def _network_of(self, instances: list[str]) -> tuple[str, dict[str, str]]:
        """Return the network of the machines, and a subnet for each of their zones."""
        found = [each for page in self._pages(instances) for each in page]
        networks = {str(each["VpcId"]) for each in found}
        if len(networks) != 1:
            raise ClusterError(
                f"the machines {', '.join(instances)} are in {len(networks)} networks in {self._region}, not in one"
            )
        zones = {str(each["Placement"]["AvailabilityZone"]): str(each["SubnetId"]) for each in found}
        return networks.pop(), dict(sorted(zones.items()))

    def _pages(self, instances: list[str]) -> Iterator[list[dict[str, Any]]]:
        pages = self._ec2.get_paginator("describe_instances").paginate(InstanceIds=instances)
        for page in pages:
            for reservation in page["Reservations"]:
                yield [each for each in reservation["Instances"] if each.get("VpcId")]

    def _security_group(self, network: str) -> tuple[str, bool]:
        """Return a group that allows NFS from the addresses of the network, and whether it was created now."""
        groups = self._groups()
        created = not groups
        if created:
            made = self._ec2.create_security_group(
                GroupName=self.name,
                Description=f"NFS of the nodes of {self._infra_id}",
                VpcId=network,
                TagSpecifications=[{"ResourceType": "security-group", "Tags": self._tags}],
            )
            groups = [str(made["GroupId"])]
        group = groups[0]
        (described,) = self._ec2.describe_security_groups(GroupIds=[group])["SecurityGroups"]
        if not any(rule.get("FromPort") == _NFS for rule in described["IpPermissions"]):
            (vpc,) = self._ec2.describe_vpcs(VpcIds=[network])["Vpcs"]
            blocks = [{"CidrIp": each["CidrBlock"]} for each in vpc["CidrBlockAssociationSet"]]
            rule = {"IpProtocol": "tcp", "FromPort": _NFS, "ToPort": _NFS, "IpRanges": blocks}
            self._ec2.authorize_security_group_ingress(GroupId=group, IpPermissions=[rule])
            created = True
        return group, created

    def _groups(self) -> list[str]:
        tag = f"tag:{tag_of(self._infra_id)}"
        wanted = [{"Name": "group-name", "Values": [self.name]}, {"Name": tag, "Values": [OWNED]}]
        return [str(each["GroupId"]) for each in self._ec2.describe_security_groups(Filters=wanted)["SecurityGroups"]]

    def _targets(self, identity: str) -> list[dict[str, Any]]:
        return list(self._efs.describe_mount_targets(FileSystemId=identity)["MountTargets"])

    @staticmethod
    def _state(found: list[dict[str, Any]]) -> tuple[bool, str]:
        states = [str(each["LifeCycleState"]) for each in found]
        return bool(states) and set(states) == {_AVAILABLE}, ", ".join(states)
