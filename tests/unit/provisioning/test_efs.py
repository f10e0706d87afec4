"""A file system of AWS for a cluster, simulated by a server of moto."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError, UsageError
from ansible_collections.psap.perf.plugins.module_utils.provisioning.aws import Amazon, tagged
from ansible_collections.psap.perf.plugins.module_utils.provisioning.efs import Efs, instances_of

from tests.standins.aws.moto_server import KEYS, REGION, client, moto_server, nodes

INFRA, OTHER = "perf-sutest-1f0c9a-x7k2p", "perf-sutest-1f0c9a-aaaaa"


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    with moto_server() as address:
        yield address


def never_stop() -> None:
    """Never ask to stop."""


def ignore(_message: str) -> None:
    """Ignore progress."""


@pytest.mark.slow
def test_file_system_is_created_once_and_deleted_completely(endpoint: str) -> None:
    efs, machines = Efs(Amazon(REGION, KEYS, endpoint), INFRA), instances_of(nodes(endpoint))
    other = Efs(Amazon(REGION, KEYS, endpoint), OTHER)
    groups = client(endpoint, "ec2").describe_security_groups()["SecurityGroups"]

    found = efs.deploy(machines, 30, never_stop, ignore)
    others = other.deploy(machines, 30, never_stop, ignore)

    assert found.changed
    assert len(found.mount_targets) == 2, "one in each zone"
    again = efs.deploy(machines, 30, never_stop, ignore)
    assert (again.identity, again.security_group, again.mount_targets, again.changed) == (
        found.identity, found.security_group, found.mount_targets, False
    )  # fmt: skip
    (described,) = client(endpoint, "ec2").describe_security_groups(GroupIds=[found.security_group])["SecurityGroups"]
    (rule,) = described["IpPermissions"]
    assert (rule["FromPort"], rule["ToPort"], [each["CidrIp"] for each in rule["IpRanges"]]) == (
        2049, 2049, ["10.0.0.0/16"]
    )  # fmt: skip
    # openshift-install destroys resources with this tag.
    assert any(found.security_group in name for name in tagged(INFRA, REGION, KEYS, endpoint))

    assert efs.undeploy(30, never_stop, ignore)
    assert not efs.undeploy(30, never_stop, ignore)
    assert efs.find() == ""
    assert other.find() == others.identity
    other.undeploy(30, never_stop, ignore)
    assert client(endpoint, "ec2").describe_security_groups()["SecurityGroups"] == groups


@pytest.mark.slow
def test_interrupted_creation_is_completed_or_deleted(endpoint: str) -> None:
    efs, machines = Efs(Amazon(REGION, KEYS, endpoint), INFRA), instances_of(nodes(endpoint))
    # Found by its token only: no mount target and no group exist.
    made = client(endpoint, "efs").create_file_system(CreationToken=efs.name)["FileSystemId"]
    found = efs.deploy(machines, 30, never_stop, ignore)
    assert (found.identity, found.changed, len(found.mount_targets)) == (made, True, 2)
    client(endpoint, "efs").delete_mount_target(MountTargetId=found.mount_targets[0])
    assert efs.deploy(machines, 30, never_stop, ignore).changed
    client(endpoint, "efs").create_file_system(CreationToken="somebody-else")

    assert efs.undeploy(30, never_stop, ignore)

    left = client(endpoint, "efs").describe_file_systems()["FileSystems"]
    assert [each["CreationToken"] for each in left] == ["somebody-else"]


def test_nodes_outside_aws_are_refused() -> None:
    with pytest.raises(UsageError, match="no node of this cluster is a machine of AWS"):
        instances_of([{"spec": {"providerID": "ibm:///a/b"}}, {"spec": {}}])


@pytest.mark.slow
def test_unknown_machines_are_one_error(endpoint: str) -> None:
    efs = Efs(Amazon(REGION, KEYS, endpoint), INFRA)
    with pytest.raises(ClusterError, match=r"cannot create the file system .*-efs: .*i-0abc"):
        efs.deploy(["i-0abc"], 30, never_stop, ignore)
    assert efs.find() == ""
