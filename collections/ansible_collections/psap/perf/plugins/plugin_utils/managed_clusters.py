"""Connections to OpenShift Cluster Manager (OCM)."""

from __future__ import annotations

from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.openshift.cluster_manager import ClusterManager
from ansible_collections.psap.perf.plugins.module_utils.provisioning.record import ClusterRecord
from ansible_collections.psap.perf.plugins.plugin_utils.verb import VerbContext


def manager_of(context: VerbContext, record: ClusterRecord, token: str) -> ClusterManager:
    """Return a connection to the OCM of *record*, which the caller closes.

    Args:
        context: The verb.
        record: The cluster.
        token: A reference to the offline token; empty for the record's.

    Raises:
        UsageError: Without a token.
    """
    reference = token or record.secrets.get("token")
    if not reference:
        raise UsageError("an offline token of OCM is missing; set token to a reference, such as file:NAME")
    url, sso_url = (str(record.destruction[name]) for name in ("url", "sso_url"))
    return ClusterManager(url, sso_url, context.secret(reference).strip(), context.redactor.add)
