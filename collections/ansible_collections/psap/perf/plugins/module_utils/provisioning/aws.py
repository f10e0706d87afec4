"""Read access to AWS: sessions, and the resources of a cluster by their tag."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.credentials import hide
from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError, UsageError
from ansible_collections.psap.perf.plugins.module_utils.exporting.places import Keys

OWNED = "owned"
_PREFIX = "kubernetes.io/cluster/"
# openshift-install uses the beginning of the cluster's name, and five random characters
_INFRA_ID = re.compile(r"[a-z0-9]([a-z0-9-]{0,25}[a-z0-9])?-[a-z0-9]{5}")
# region of AWS's global resources: zones of Route 53, users and roles
_GLOBAL = "us-east-1"


@dataclass(frozen=True, slots=True)
class Amazon:
    """A region of AWS, and the credentials for it.

    Args:
        keys: None for the credentials that boto3 finds.
        endpoint: Address of the API; empty for AWS.
    """

    region: str
    keys: Keys | None = None
    endpoint: str = ""

    def client(self, service: str) -> Any:
        """Return the client of a service, such as ``ec2``.

        Raises:
            UsageError: If boto3 is not installed.
        """
        try:
            import boto3
        except ImportError as error:
            raise UsageError("boto3 is needed: pip install 'psap-perf[s3]', or pip install boto3") from error
        session = boto3.session.Session(
            aws_access_key_id=self.keys.identity if self.keys else None,
            aws_secret_access_key=self.keys.secret if self.keys else None,
            aws_session_token=self.keys.token if self.keys else None,
        )
        return session.client(service, region_name=self.region, endpoint_url=self.endpoint or None)


@contextlib.contextmanager
def aws_errors(doing: str) -> Iterator[None]:
    """Convert errors of boto3 in the block to a ClusterError that names the action *doing*."""
    try:
        from botocore.exceptions import BotoCoreError, ClientError
    except ImportError as error:
        raise UsageError("boto3 is needed: pip install 'psap-perf[s3]', or pip install boto3") from error
    try:
        yield
    except (BotoCoreError, ClientError) as error:
        raise ClusterError(f"cannot {doing}: {hide(str(error))}") from error


def tag_of(infra_id: str) -> str:
    """Return the key of the tag of a cluster's resources."""
    return f"{_PREFIX}{infra_id}"


def check_infra_id(text: str) -> str:
    """Return *text* if it is a complete infrastructure ID.

    Raises:
        UsageError: For any other text, such as a pattern, or the name of a cluster.
    """
    if not _INFRA_ID.fullmatch(text):
        raise UsageError(
            f"{text!r} is not an infrastructure ID such as perf-sutest-1f0c9a-x7k2p, the part after {_PREFIX} of the "
            "tag's key"
        )
    return text


def tagged(infra_id: str, region: str, keys: Keys | None = None, endpoint: str = "") -> list[str]:
    """Return the names (ARN) of the cluster's regional and global resources.

    AWS lists machines for about an hour after their end.

    Args:
        keys: None for the credentials that boto3 finds.
        endpoint: Address of the API; empty for AWS.

    Raises:
        ClusterError: If AWS cannot be reached or refuses.
    """
    check_infra_id(infra_id)
    wanted, found = [{"Key": tag_of(infra_id), "Values": [OWNED]}], set()
    with aws_errors(f"list the resources of {infra_id} in {region}"):
        for each in dict.fromkeys((region, _GLOBAL)):
            client = Amazon(each, keys, endpoint).client("resourcegroupstaggingapi")
            for page in client.get_paginator("get_resources").paginate(TagFilters=wanted):
                found |= {str(entry["ResourceARN"]) for entry in page["ResourceTagMappingList"]}
    return sorted(found)
