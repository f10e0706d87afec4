# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from dataclasses import dataclass

from ansible_collections.psap.perf.plugins.module_utils.base.clock import Seconds
from ansible_collections.psap.perf.plugins.module_utils.provisioning.osd import delete, exists
from ansible_collections.psap.perf.plugins.module_utils.provisioning.record import DESTROYED, Journal, read_record
from ansible_collections.psap.perf.plugins.plugin_utils.cluster_records import document_of, path_of
from ansible_collections.psap.perf.plugins.plugin_utils.managed_clusters import manager_of
from ansible_collections.psap.perf.plugins.plugin_utils.verb import CommandAction, VerbContext, VerbResult
from ansible_collections.psap.perf.plugins.plugin_utils.waiting_file import shown_wait


@dataclass(frozen=True, slots=True)
class Arguments:
    token: str
    timeout: Seconds


class ActionModule(CommandAction):
    """Delete a managed cluster."""

    def perform(self, context: VerbContext) -> VerbResult:
        """Delete the cluster of the record; in check mode, find out whether it exists."""
        args = context.arguments(Arguments)
        path = path_of(context)
        record = read_record(path)
        if record is None:
            return VerbResult(values={"record": str(path), "cluster": {}}, skipped="no cluster is recorded")
        journal = Journal(path, record)
        if record.phase == DESTROYED:
            if not context.check_mode:
                # a killed command may have left the folder
                journal.forget()
            return VerbResult(values={"record": str(path), "cluster": document_of(record)})
        with manager_of(context, record, args.token) as manager:
            if context.check_mode:
                changed = exists(manager, record)
                return VerbResult(changed=changed, values={"record": str(path), "cluster": document_of(record)})
            with shown_wait(context.command_directory(), f"the end of {record.name}", args.timeout) as show:
                delete(manager, record, args.timeout, context.check_interrupted, show)
        journal.forget()
        return VerbResult(changed=True, values={"record": str(path), "cluster": document_of(journal.record)})
