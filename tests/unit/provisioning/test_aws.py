"""Resources of a cluster in an AWS that a server of moto simulates."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError, UsageError
from ansible_collections.psap.perf.plugins.module_utils.provisioning.aws import check_infra_id, tagged

from tests.standins.aws.moto_server import KEYS, REGION, client, moto_server


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    with moto_server() as address:
        yield address


def cluster(endpoint: str, infra_id: str, value: str = "owned", region: str = REGION) -> None:
    """Create a VPC, a subnet, a machine, a load balancer and a bucket."""
    tags = [{"Key": f"kubernetes.io/cluster/{infra_id}", "Value": value}]
    ec2 = client(endpoint, "ec2", region)

    def of(kind: str) -> list[dict[str, Any]]:
        return [{"ResourceType": kind, "Tags": tags}]

    vpc = ec2.create_vpc(CidrBlock="10.0.0.0/16", TagSpecifications=of("vpc"))["Vpc"]["VpcId"]
    made = ec2.create_subnet(VpcId=vpc, CidrBlock="10.0.0.0/24", TagSpecifications=of("subnet"))
    subnet = made["Subnet"]["SubnetId"]
    image = ec2.describe_images()["Images"][0]["ImageId"]
    ec2.run_instances(ImageId=image, MinCount=1, MaxCount=1, SubnetId=subnet, TagSpecifications=of("instance"))
    client(endpoint, "elbv2", region).create_load_balancer(Name=infra_id, Subnets=[subnet], Type="network", Tags=tags)
    s3 = client(endpoint, "s3", region)
    s3.create_bucket(Bucket=infra_id, CreateBucketConfiguration={"LocationConstraint": region})
    s3.put_bucket_tagging(Bucket=infra_id, Tagging={"TagSet": tags})


@pytest.mark.slow
def test_only_resources_of_the_cluster_are_found(endpoint: str) -> None:
    cluster(endpoint, "perf-sutest-aaaaa")
    cluster(endpoint, "perf-sutest-bbbbb")
    cluster(endpoint, "perf-sutest-ccccc", "shared")
    found = tagged("perf-sutest-aaaaa", REGION, KEYS, endpoint)
    kinds = sorted(name.split(":")[2] + "/" + name.split(":")[5].split("/")[0] for name in found)
    assert kinds == [
        "ec2/instance", "ec2/subnet", "ec2/vpc", "elasticloadbalancing/loadbalancer", "s3/perf-sutest-aaaaa"
    ]  # fmt: skip
    assert not set(found) & set(tagged("perf-sutest-bbbbb", REGION, KEYS, endpoint))
    assert tagged("perf-sutest-ccccc", REGION, KEYS, endpoint) == []
    assert not any(":ec2:" in name for name in tagged("perf-sutest-aaaaa", "us-west-2", KEYS, endpoint))


@pytest.mark.parametrize("wrong", ["", "*", "perf-*", "perf", "perf-sutest-1f0c9a", "kubernetes.io/cluster/perf-aaaaa"])
def test_partial_tag_is_refused(wrong: str) -> None:
    with pytest.raises(UsageError, match="is not an infrastructure ID"):
        check_infra_id(wrong)


def test_unreachable_api_is_one_error() -> None:
    with pytest.raises(ClusterError, match="cannot list the resources of perf-aaaaa in us-east-2: Could not connect"):
        tagged("perf-aaaaa", REGION, KEYS, "http://127.0.0.1:1")
