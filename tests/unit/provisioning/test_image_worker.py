"""The machine that builds an image, with a server of moto for AWS."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError, Interrupted, UsageError
from ansible_collections.psap.perf.plugins.module_utils.provisioning.aws import Amazon
from ansible_collections.psap.perf.plugins.module_utils.provisioning.image_worker import (
    ImageRequest,
    ImageWorker,
    Waits,
)

from tests.standins.aws.moto_server import KEYS, REGION, client, moto_server

pytestmark = pytest.mark.slow

WAITS = Waits(60.0, lambda: None, lambda _state: None)


@pytest.fixture(scope="module", name="endpoint")
def _endpoint() -> Iterator[str]:
    with moto_server() as endpoint:
        client(endpoint, "ec2").create_key_pair(KeyName="mine")
        yield endpoint


@pytest.fixture(scope="module", name="ec2")
def _ec2(endpoint: str) -> Any:
    return client(endpoint, "ec2")


@pytest.fixture(scope="module", name="machine_image")
def _machine_image(ec2: Any) -> str:
    return str(ec2.describe_images()["Images"][0]["ImageId"])


@pytest.fixture(name="image_request")
def _image_request(ec2: Any, machine_image: str) -> ImageRequest:
    volume = ec2.create_volume(AvailabilityZone=f"{REGION}a", Size=8)["VolumeId"]
    snapshot = ec2.create_snapshot(VolumeId=volume)["SnapshotId"]
    return ImageRequest(
        snapshot, f"{REGION}a", "t3.micro", machine_image, "mine", "198.51.100.7/32", "#cloud-config\n{}\n"
    )


def worker(endpoint: str, name: str, waits: Waits = WAITS) -> ImageWorker:
    return ImageWorker(Amazon(REGION, KEYS, endpoint), name, waits)


def leftovers(ec2: Any, name: str) -> list[str]:
    mine = [{"Name": "tag:psap.perf/image", "Values": [name]}]
    instances = [each for group in ec2.describe_instances(Filters=mine)["Reservations"] for each in group["Instances"]]
    living = [each["InstanceId"] for each in instances if each["State"]["Name"] != "terminated"]
    volumes = [each["VolumeId"] for each in ec2.describe_volumes(Filters=mine)["Volumes"]]
    return [*living, *volumes, *(group["GroupId"] for group in groups(ec2, name))]


def groups(ec2: Any, name: str) -> list[dict[str, Any]]:
    mine = [{"Name": "tag:psap.perf/image", "Values": [name]}]
    return list(ec2.describe_security_groups(Filters=mine)["SecurityGroups"])


def snapshots(ec2: Any, name: str) -> list[str]:
    mine = [{"Name": "tag:psap.perf/image", "Values": [name]}]
    return [each["SnapshotId"] for each in ec2.describe_snapshots(OwnerIds=["self"], Filters=mine)["Snapshots"]]


def images(ec2: Any, name: str) -> list[str]:
    found = ec2.describe_images(Owners=["self"], Filters=[{"Name": "name", "Values": [name]}])["Images"]
    return [each["ImageId"] for each in found]


def test_image_is_made_of_the_disk_and_nothing_else_stays(endpoint: str, ec2: Any, image_request: ImageRequest) -> None:
    made = worker(endpoint, "crc")
    machine = made.start(replace(image_request, spare_gib=20))
    sizes = {each["VolumeId"]: each["Size"] for each in ec2.describe_volumes()["Volumes"]}
    assert (sizes[machine.disk], sizes[machine.spare]) == (8, 20)
    (group,) = ec2.describe_security_groups(Filters=[{"Name": "tag:psap.perf/image", "Values": ["crc"]}])[
        "SecurityGroups"
    ]
    assert group["IpPermissions"][0]["IpRanges"] == [{"CidrIp": "198.51.100.7/32"}]
    first = made.replace("snap-0")
    assert made.remove()
    assert not made.remove()
    assert (images(ec2, "crc"), leftovers(ec2, "crc")) == ([first], [])

    assert not made.start(image_request).spare
    second = made.replace("snap-0")
    made.remove()

    assert images(ec2, "crc") == [second] != [first]


def test_image_is_made_of_its_snapshot_which_stays(endpoint: str, ec2: Any, image_request: ImageRequest) -> None:
    made = worker(endpoint, "again")
    made.start(image_request)
    made.replace(image_request.snapshot)
    made.remove()
    (own,) = snapshots(ec2, "again")

    made.start(replace(image_request, snapshot=own))
    made.replace(own)
    made.remove()

    assert own in snapshots(ec2, "again")
    assert len(snapshots(ec2, "again")) == 2


def test_snapshot_of_a_killed_call_goes_with_an_existing_image(
    endpoint: str, ec2: Any, image_request: ImageRequest
) -> None:
    made = worker(endpoint, "orphan")
    tags = [{"ResourceType": "snapshot", "Tags": [{"Key": "psap.perf/image", "Value": "orphan"}]}]
    volume = made.start(image_request).disk
    orphan = ec2.create_snapshot(VolumeId=volume, TagSpecifications=tags)["SnapshotId"]

    made.start(image_request)
    assert snapshots(ec2, "orphan") == [orphan]
    made.replace(image_request.snapshot)
    made.remove()

    assert len(snapshots(ec2, "orphan")) == 1
    assert orphan not in snapshots(ec2, "orphan")


def test_stop_request_removes_everything(endpoint: str, ec2: Any, image_request: ImageRequest) -> None:
    def stopped() -> None:
        raise Interrupted("stop")

    made = worker(endpoint, "stopped", replace(WAITS, check=stopped))
    worker(endpoint, "stopped").start(image_request)
    assert len(leftovers(ec2, "stopped")) == 3
    assert made.remove()
    assert leftovers(ec2, "stopped") == []


def test_leftovers_of_a_killed_call_are_removed_by_the_next(
    endpoint: str, ec2: Any, image_request: ImageRequest
) -> None:
    worker(endpoint, "killed").start(image_request)
    former = leftovers(ec2, "killed")

    worker(endpoint, "killed").start(image_request)

    assert len(former) == len(leftovers(ec2, "killed")) == 3
    assert not set(former) & set(leftovers(ec2, "killed"))
    worker(endpoint, "killed").remove()


def test_former_image_returns_if_the_new_one_is_refused(
    endpoint: str, ec2: Any, image_request: ImageRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = worker(endpoint, "kept")
    made.start(image_request)
    made.replace("snap-0")
    made.remove()
    made.start(image_request)
    before = snapshots(ec2, "kept")
    register, asked = made._register, list[str]()

    def refused_once(snapshot: str) -> str:
        asked.append(snapshot)
        if len(asked) == 1:
            raise ClusterError("AWS refuses it")
        return register(snapshot)

    monkeypatch.setattr(made, "_register", refused_once)
    with pytest.raises(ClusterError, match="AWS refuses it"):
        made.replace("snap-0")
    made.remove()

    assert len(images(ec2, "kept")) == 1
    assert asked[0] != asked[1]
    assert snapshots(ec2, "kept") == before


def test_missing_resources_are_named(endpoint: str, image_request: ImageRequest) -> None:
    refused = worker(endpoint, "refused")
    for wrong, message in (
        (replace(image_request, snapshot="snap-0123456789abcdef0"), "no snapshot snap-0123456789abcdef0"),
        (replace(image_request, key_pair="nobodys"), "no key pair nobodys"),
        (replace(image_request, machine_image="ami-0123456789abcdef0"), "no image ami-0123456789abcdef0"),
        (replace(image_request, ssh_from="0.0.0.0/0"), "allows all addresses"),
        (replace(image_request, ssh_from="198.51.100.7/24"), "is not a range of IPv4 addresses"),
    ):
        with pytest.raises(UsageError, match=message):
            refused.check(wrong)
    with pytest.raises(ClusterError, match="the disk of the image refused is gone"):
        refused.replace("snap-0")
