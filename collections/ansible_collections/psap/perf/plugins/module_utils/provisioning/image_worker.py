"""Change the disk of an image on a machine of AWS, and create an image from the disk.

All resources but the image and its snapshot are temporary. They have a tag with the image's name, by which the next
call deletes those of a killed one.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError, UsageError
from ansible_collections.psap.perf.plugins.module_utils.provisioning.aws import Amazon, aws_errors
from ansible_collections.psap.perf.plugins.module_utils.waiting.polling import poll_until

_TAG = "psap.perf/image"
_DISK, _SPARE = "/dev/sdf", "/dev/xvdg"
_SSH = 22
# characters that both images and security groups may have
_NAME = re.compile(r"[A-Za-z0-9()./@_-]{3,128}")
_GONE = ("shutting-down", "terminated")
# resources that a machine that has just ended still uses
_STILL_USED = ("VolumeInUse", "DependencyViolation")


@dataclass(frozen=True, slots=True)
class ImageRequest:
    """The disk, and the machine that changes it.

    Args:
        ssh_from: Addresses that may connect to it, such as ``198.51.100.7/32``.
        user_data: Configuration for its first boot, which also ends the machine after some hours.
        spare_gib: Size of a second, empty disk; 0 for none.
    """

    snapshot: str
    zone: str
    instance_type: str
    machine_image: str
    key_pair: str
    ssh_from: str
    user_data: str
    spare_gib: int = 0


@dataclass(frozen=True, slots=True)
class Machine:
    """The machine's address, and the IDs of its volumes: the disk and the spare one, which may be empty."""

    address: str
    disk: str
    spare: str


@dataclass(frozen=True, slots=True)
class Waits:
    """The timeout of each step, and functions that are called while waiting."""

    timeout_s: float
    check: Callable[[], None]
    show: Callable[[str], None]


class ImageWorker:
    """The machine that changes the disk of the image *image*.

    Every call raises a ClusterError if AWS cannot be reached or refuses, and a WaitTimeoutError after the timeout.
    """

    def __init__(self, amazon: Amazon, image: str, waits: Waits) -> None:
        with aws_errors(f"reach AWS in {amazon.region}"):
            self._ec2 = amazon.client("ec2")
        self.image, self._waits = image, waits
        self._mine = [{"Name": f"tag:{_TAG}", "Values": [image]}]

    def check(self, request: ImageRequest) -> None:
        """Raise a UsageError if a resource of the request is missing, or the image's name is invalid."""
        if not _NAME.fullmatch(self.image):
            raise UsageError(f"invalid image name {self.image!r}: use 3 to 128 letters, digits and ().-/@_")
        _check_source(request.ssh_from)
        with aws_errors(f"find the resources for the image {self.image}"):
            owned = {"OwnerIds": ["self"], "Filters": [{"Name": "snapshot-id", "Values": [request.snapshot]}]}
            if not self._ec2.describe_snapshots(**owned)["Snapshots"]:
                raise UsageError(f"no snapshot {request.snapshot} of this account in this region")
            pairs = self._ec2.describe_key_pairs(Filters=[{"Name": "key-name", "Values": [request.key_pair]}])
            if not pairs["KeyPairs"]:
                raise UsageError(f"no key pair {request.key_pair} in this region")
            images = self._ec2.describe_images(Filters=[{"Name": "image-id", "Values": [request.machine_image]}])
            if not images["Images"]:
                raise UsageError(f"no image {request.machine_image} in this region that this account may start")

    def start(self, request: ImageRequest) -> Machine:
        """Start it with the disk, for a checked request, after deleting resources of a killed call."""
        self.remove()
        with aws_errors(f"start the machine for the image {self.image}"):
            group = self._ec2.create_security_group(
                GroupName=f"psap-perf-{self.image}",
                Description=f"SSH to the machine that makes the image {self.image}",
                TagSpecifications=self._tags("security-group"),
            )["GroupId"]
            rule = {"IpProtocol": "tcp", "FromPort": _SSH, "ToPort": _SSH, "IpRanges": [{"CidrIp": request.ssh_from}]}
            self._ec2.authorize_security_group_ingress(GroupId=group, IpPermissions=[rule])
            volume = self._ec2.create_volume(
                SnapshotId=request.snapshot,
                AvailabilityZone=request.zone,
                VolumeType="gp3",
                TagSpecifications=self._tags("volume"),
            )["VolumeId"]
            spare = {"DeviceName": _SPARE, "Ebs": {"VolumeSize": request.spare_gib, "DeleteOnTermination": True}}
            instance = self._ec2.run_instances(
                ImageId=request.machine_image,
                InstanceType=request.instance_type,
                KeyName=request.key_pair,
                SecurityGroupIds=[group],
                Placement={"AvailabilityZone": request.zone},
                BlockDeviceMappings=[spare] if request.spare_gib else [],
                InstanceInitiatedShutdownBehavior="terminate",
                UserData=request.user_data,
                TagSpecifications=self._tags("instance"),
                MinCount=1,
                MaxCount=1,
            )["Instances"][0]["InstanceId"]
            self._poll(lambda: self._instance(instance)["State"]["Name"], "running", f"the machine {instance}")
            self._poll(lambda: self._volume()["State"], "available", f"the disk {volume}")
            self._ec2.attach_volume(Device=_DISK, InstanceId=instance, VolumeId=volume)
            self._poll(lambda: self._volume()["State"], "in-use", f"the disk {volume}")
            found = self._instance(instance)
            attached = {each["DeviceName"]: str(each["Ebs"]["VolumeId"]) for each in found["BlockDeviceMappings"]}
            address = str(found.get("PublicIpAddress") or found["PrivateIpAddress"])
            return Machine(address, volume, attached.get(_SPARE, ""))

    def replace(self, source: str) -> str:
        """Create an image of the disk, replace the existing image of the name, and return the new ID.

        Names of images are unique: the former image is deregistered after the snapshot of the disk is complete, and
        registered again if the new image is refused. Snapshots of a killed call are deleted only after that, since no
        other copy may exist.

        Args:
            source: The snapshot that the disk was created from, which is kept.
        """
        with aws_errors(f"create the image {self.image}"):
            volume = self._volume()
            for attachment in volume["Attachments"]:
                self._ec2.detach_volume(VolumeId=volume["VolumeId"], InstanceId=attachment["InstanceId"])
            self._poll(lambda: self._volume()["State"], "available", f"the disk {volume['VolumeId']}")
            snapshot = self._ec2.create_snapshot(
                VolumeId=volume["VolumeId"], Description=self.image, TagSpecifications=self._tags("snapshot")
            )["SnapshotId"]
            former: list[dict[str, Any]] = []
            try:
                self._poll(lambda: self._snapshot(snapshot)["State"], "completed", f"the snapshot {snapshot}")
                former = self._former()
                for each in former:
                    self._ec2.deregister_image(ImageId=each["ImageId"])
                identity = self._register(snapshot)
            except BaseException:
                for each in former:
                    self._register(_snapshot_of(each))
                self._ec2.delete_snapshot(SnapshotId=snapshot)
                raise
            mine = self._ec2.describe_snapshots(OwnerIds=["self"], Filters=self._mine)["Snapshots"]
            left = {str(each["SnapshotId"]) for each in mine} | {_snapshot_of(each) for each in former}
            for superfluous in sorted(left - {snapshot, source}):
                self._ec2.delete_snapshot(SnapshotId=superfluous)
            return identity

    def remove(self) -> bool:
        """Delete the machine, its disk and its security group, and return whether any existed.

        A user who stops the run does not interrupt this.
        """
        with aws_errors(f"remove the machine for the image {self.image}"):
            instances = self._instances()
            identities = [each["InstanceId"] for each in instances]
            if identities:
                self._ec2.terminate_instances(InstanceIds=identities)
                self._delete(lambda: ", ".join(each["State"]["Name"] for each in self._instances()), identities[0])
            volumes = self._ec2.describe_volumes(Filters=self._mine)["Volumes"]
            for each in (str(volume["VolumeId"]) for volume in volumes):
                self._delete(partial(self._try_delete, self._ec2.delete_volume, VolumeId=each), each)
            groups = self._ec2.describe_security_groups(Filters=self._mine)["SecurityGroups"]
            for each in (str(group["GroupId"]) for group in groups):
                self._delete(partial(self._try_delete, self._ec2.delete_security_group, GroupId=each), each)
        return bool(identities or volumes or groups)

    def _try_delete(self, call: Callable[..., object], **of: str) -> str:
        """Delete a resource, and return why it cannot be deleted yet; empty after the deletion."""
        try:
            call(**of)
        except self._ec2.exceptions.ClientError as error:
            if not str(error.response["Error"]["Code"]).startswith(_STILL_USED):
                raise
            return "still used"
        return ""

    def _delete(self, read_state: Callable[[], str], what: str) -> None:
        def state() -> tuple[bool, str]:
            found = read_state()
            return not found, found

        poll_until(state, f"{what} was not deleted", self._waits.timeout_s, lambda: None, self._waits.show)

    def _register(self, snapshot: str) -> str:
        root = {"DeviceName": "/dev/xvda", "Ebs": {"SnapshotId": snapshot, "VolumeType": "gp3"}}
        made = self._ec2.register_image(
            Name=self.image,
            Architecture="x86_64",
            RootDeviceName="/dev/xvda",
            BlockDeviceMappings=[root],
            VirtualizationType="hvm",
            EnaSupport=True,
        )
        return str(made["ImageId"])

    def _former(self) -> list[dict[str, Any]]:
        named = [{"Name": "name", "Values": [self.image]}]
        return list(self._ec2.describe_images(Owners=["self"], Filters=named)["Images"])

    def _instances(self) -> list[dict[str, Any]]:
        found = self._ec2.describe_instances(Filters=self._mine)["Reservations"]
        every = [each for reservation in found for each in reservation["Instances"]]
        return [each for each in every if each["State"]["Name"] != _GONE[1]]

    def _instance(self, identity: str) -> dict[str, Any]:
        (reservation,) = self._ec2.describe_instances(InstanceIds=[identity])["Reservations"]
        found: dict[str, Any] = reservation["Instances"][0]
        if found["State"]["Name"] in _GONE:
            raise ClusterError(f"the machine {identity} ended by itself: {found.get('StateReason', {})}")
        return found

    def _volume(self) -> dict[str, Any]:
        found = self._ec2.describe_volumes(Filters=self._mine)["Volumes"]
        if not found:
            raise ClusterError(f"the disk of the image {self.image} is gone")
        return dict(found[0])

    def _snapshot(self, identity: str) -> dict[str, Any]:
        return dict(self._ec2.describe_snapshots(SnapshotIds=[identity])["Snapshots"][0])

    def _poll(self, read_state: Callable[[], str], wanted: str, what: str) -> None:
        def state() -> tuple[bool, str]:
            found = read_state()
            return found == wanted, found

        waits = self._waits
        poll_until(state, f"{what} was not {wanted}", waits.timeout_s, waits.check, waits.show)

    def _tags(self, kind: str) -> list[dict[str, Any]]:
        tags = [{"Key": _TAG, "Value": self.image}, {"Key": "Name", "Value": self.image}]
        return [{"ResourceType": kind, "Tags": tags}]


def _check_source(text: str) -> None:
    try:
        network = ipaddress.IPv4Network(text)
    except ValueError as error:
        raise UsageError(f"{text!r} is not a range of IPv4 addresses, such as 198.51.100.7/32: {error}") from error
    if not network.prefixlen:
        raise UsageError(f"{text} allows all addresses; set those of the clients, such as 198.51.100.7/32")


def _snapshot_of(image: dict[str, Any]) -> str:
    return next(str(each["Ebs"]["SnapshotId"]) for each in image["BlockDeviceMappings"] if "Ebs" in each)
