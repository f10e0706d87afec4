# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError
from ansible_collections.psap.perf.plugins.module_utils.kube_api.client import Cluster
from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.access import Access
from ansible_collections.psap.perf.plugins.module_utils.provisioning.keeping import kept_by
from ansible_collections.psap.perf.plugins.module_utils.provisioning.record import CREATED, ClusterRecord, read_record
from ansible_collections.psap.perf.plugins.plugin_utils.cluster_records import document_of, path_of
from ansible_collections.psap.perf.plugins.plugin_utils.verb import CommandAction, VerbContext, VerbResult


class ActionModule(CommandAction):
    """Find out who keeps a cluster."""

    def perform(self, context: VerbContext) -> VerbResult:
        """Read it from the cluster, or from the record if the cluster cannot be reached."""
        path = path_of(context)
        record = read_record(path)
        values = {"record": str(path), "cluster": document_of(record), "kept_by": ""}
        if record is not None and record.phase == CREATED:
            values["kept_by"] = _kept_by(record)
        return VerbResult(values=values)


def _kept_by(record: ClusterRecord) -> str:
    recorded = f"{record.owner}, by its record" if record.keep else ""
    try:
        # without retries, since the cluster is destroyed next
        cluster = Cluster(Access(record.kubeconfig))
    except ClusterError:
        return recorded
    try:
        return kept_by(cluster)
    except ClusterError:
        return recorded
    finally:
        cluster.close()
