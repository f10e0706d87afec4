"""OpenShift Cluster Manager as the record of a cluster says."""

from __future__ import annotations

from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.clusters.record import ClusterRecord
from ansible_collections.psap.perf.plugins.module_utils.openshift.cluster_manager import ClusterManager
from ansible_collections.psap.perf.plugins.plugin_utils.verb import VerbContext


def manager_of(context: VerbContext, record: ClusterRecord) -> ClusterManager:
    """A connection; whoever asks for it closes it.

    :raises UsageError: without a token.
    """
    reference = context.args["token"] or record.secrets.get("token")
    if not reference:
        raise UsageError("an offline token of OCM is needed: name a secret with one, as file:NAME")
    url, sso_url = (str(record.destruction[name]) for name in ("url", "sso_url"))
    return ClusterManager(url, sso_url, context.secret(reference).strip(), context.redactor.add)
