"""What of a cluster is in AWS, by the tag that all of it has; nothing is changed here."""

from __future__ import annotations

import re

from ansible_collections.psap.perf.plugins.module_utils.base.credentials import hide
from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError, UsageError
from ansible_collections.psap.perf.plugins.module_utils.exporting.places import Keys

OWNED = "owned"
_PREFIX = "kubernetes.io/cluster/"
# of openshift-install: the beginning of the cluster's name, and five random characters
_INFRA_ID = re.compile(r"[a-z0-9]([a-z0-9-]{0,25}[a-z0-9])?-[a-z0-9]{5}")
# where AWS has what is in no region: zones of Route 53, users and roles
_GLOBAL = "us-east-1"


def check_infra_id(text: str) -> str:
    """*text*, which must be a whole infrastructure ID.

    :raises UsageError: for anything else, such as a pattern, or the name of a cluster.
    """
    if not _INFRA_ID.fullmatch(text):
        raise UsageError(
            f"{text!r} is no infrastructure ID, as perf-sutest-1f0c9a-x7k2p: what follows {_PREFIX} in the key of the "
            "tag, whole"
        )
    return text


def tagged(infra_id: str, region: str, keys: Keys | None = None, endpoint: str = "") -> list[str]:
    """The names (ARN) of all that is the cluster's own in a region, and in none.

    Machines stay for about an hour after their end.

    :param keys: None for what boto3 finds by itself.
    :param endpoint: of another API than that of AWS.
    :raises ClusterError: when AWS cannot be reached or refuses.
    """
    check_infra_id(infra_id)
    try:
        import boto3
        from botocore.exceptions import BotoCoreError, ClientError
    except ImportError as error:
        raise UsageError("boto3 is needed: pip install 'psap-perf[s3]', or pip install boto3") from error
    session = boto3.session.Session(
        aws_access_key_id=keys.identity if keys else None,
        aws_secret_access_key=keys.secret if keys else None,
        aws_session_token=keys.token if keys else None,
    )
    wanted, found = [{"Key": f"{_PREFIX}{infra_id}", "Values": [OWNED]}], set()
    try:
        for each in dict.fromkeys((region, _GLOBAL)):
            client = session.client("resourcegroupstaggingapi", region_name=each, endpoint_url=endpoint or None)
            for page in client.get_paginator("get_resources").paginate(TagFilters=wanted):
                found |= {str(entry["ResourceARN"]) for entry in page["ResourceTagMappingList"]}
    except (BotoCoreError, ClientError) as error:
        raise ClusterError(f"cannot list what AWS has of {infra_id} in {region}: {hide(str(error))}") from error
    return sorted(found)
