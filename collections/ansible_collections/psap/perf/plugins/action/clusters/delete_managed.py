# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from dataclasses import dataclass

from ansible_collections.psap.perf.plugins.module_utils.base.clock import Seconds
from ansible_collections.psap.perf.plugins.module_utils.provisioning.osd import delete, exists
from ansible_collections.psap.perf.plugins.module_utils.provisioning.record import ClusterRecord
from ansible_collections.psap.perf.plugins.plugin_utils.cluster_records import DestroyAction
from ansible_collections.psap.perf.plugins.plugin_utils.managed_clusters import manager_of
from ansible_collections.psap.perf.plugins.plugin_utils.verb import VerbContext
from ansible_collections.psap.perf.plugins.plugin_utils.waiting_file import shown_wait


@dataclass(frozen=True, slots=True)
class Arguments:
    token: str
    timeout: Seconds


class ActionModule(DestroyAction):
    """Delete a managed cluster."""

    def exists(self, context: VerbContext, record: ClusterRecord) -> bool:
        """Return whether OCM has the cluster."""
        with manager_of(context, record, context.arguments(Arguments).token) as manager:
            return exists(manager, record)

    def destroy(self, context: VerbContext, record: ClusterRecord) -> None:
        """Delete the cluster, and wait until OCM no longer has it."""
        args = context.arguments(Arguments)
        with (
            manager_of(context, record, args.token) as manager,
            shown_wait(context.command_directory(), f"the end of {record.name}", args.timeout) as show,
        ):
            delete(manager, record, args.timeout, context.check_interrupted, show)
