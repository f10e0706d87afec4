"""A server of moto in place of AWS: on its own port for a test, or as a program for a scenario.

``python -m tests.standins.aws.moto_server FILE`` serves on a free port, which it writes into FILE, until the file is
removed; 39 minutes at most. It begins with machines in two zones, whose nodes are in FILE.nodes.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import boto3
from ansible_collections.psap.perf.plugins.module_utils.exporting.places import Keys
from moto.server import ThreadedMotoServer

from tests.standins.http_servers import serve_until_removed

KEYS = Keys("an-id", "a-secret-key")
REGION = "us-east-2"


@contextmanager
def moto_server() -> Iterator[str]:
    """Serve until the block ends; yield the address."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    try:
        yield f"http://{host}:{port}"
    finally:
        server.stop()


def client(endpoint: str, service: str, region: str = REGION) -> Any:
    """Return a client of the server, to inspect its state."""
    session = boto3.session.Session(aws_access_key_id=KEYS.identity, aws_secret_access_key=KEYS.secret)
    return session.client(service, region_name=region, endpoint_url=endpoint)


def nodes(endpoint: str) -> list[dict[str, Any]]:
    """Create nodes on machines in two zones of one network, and one of neither."""
    ec2 = client(endpoint, "ec2")
    vpc = ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
    image = ec2.describe_images()["Images"][0]["ImageId"]
    found = []
    for number, zone in enumerate(("us-east-2a", "us-east-2b", "us-east-2a")):
        subnet = ec2.create_subnet(VpcId=vpc, CidrBlock=f"10.0.{number}.0/24", AvailabilityZone=zone)["Subnet"]
        made = ec2.run_instances(ImageId=image, MinCount=1, MaxCount=1, SubnetId=subnet["SubnetId"])["Instances"][0]
        found.append({"spec": {"providerID": f"aws:///{zone}/{made['InstanceId']}"}})
    return [*found, {"spec": {}}]


def main(place: Path) -> None:
    """Serve until *place*, where the address is written, is removed."""
    with moto_server() as endpoint:
        place.with_suffix(".nodes").write_text(json.dumps(nodes(endpoint)), encoding="utf-8")
        serve_until_removed(endpoint, place)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
