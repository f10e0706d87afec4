# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from ansible_collections.psap.perf.plugins.module_utils.provisioning.hive import is_claimed, release
from ansible_collections.psap.perf.plugins.module_utils.provisioning.record import ClusterRecord
from ansible_collections.psap.perf.plugins.plugin_utils.cluster_records import DestroyAction, where_hive_runs
from ansible_collections.psap.perf.plugins.plugin_utils.verb import VerbContext


class ActionModule(DestroyAction):
    """Release a claimed cluster."""

    def exists(self, context: VerbContext, record: ClusterRecord) -> bool:
        """Return whether the claim exists."""
        with where_hive_runs(context, record) as hub:
            return is_claimed(hub, record)

    def destroy(self, context: VerbContext, record: ClusterRecord) -> None:
        """Delete the claim."""
        with where_hive_runs(context, record) as hub:
            release(hub, record)
