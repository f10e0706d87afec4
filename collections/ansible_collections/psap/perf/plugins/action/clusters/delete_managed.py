# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from ansible_collections.psap.perf.plugins.module_utils.base.clock import seconds
from ansible_collections.psap.perf.plugins.module_utils.clusters.osd import delete, is_there
from ansible_collections.psap.perf.plugins.module_utils.clusters.record import DESTROYED, Journal, read_record
from ansible_collections.psap.perf.plugins.modules.clusters.delete_managed import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.clusters import path_of, said_of
from ansible_collections.psap.perf.plugins.plugin_utils.managed_clusters import manager_of
from ansible_collections.psap.perf.plugins.plugin_utils.verb import PerfAction, VerbContext, VerbResult
from ansible_collections.psap.perf.plugins.plugin_utils.verb_documentation import argument_spec
from ansible_collections.psap.perf.plugins.plugin_utils.waiting_file import shown_wait


class ActionModule(PerfAction):
    """Delete a managed cluster."""

    ARGUMENTS = argument_spec(DOCUMENTATION)

    def perform(self, context: VerbContext) -> VerbResult:
        """Delete what the record names; in check mode look for it."""
        path = path_of(context)
        record = read_record(path)
        if record is None:
            return VerbResult(values={"record": str(path), "cluster": {}}, skipped="no cluster is noted")
        journal = Journal(path, record)
        if record.phase == DESTROYED:
            if not context.check_mode:
                # a kill may have left it
                journal.forget()
            return VerbResult(values={"record": str(path), "cluster": said_of(record)})
        timeout_s = seconds(context.args["timeout"])
        with manager_of(context, record) as manager:
            if context.check_mode:
                there = is_there(manager, record)
                return VerbResult(changed=there, values={"record": str(path), "cluster": said_of(record)})
            with shown_wait(context.command_directory(), f"the end of {record.name}", timeout_s) as show:
                delete(manager, record, timeout_s, context.check_interrupted, show)
        journal.forget()
        return VerbResult(changed=True, values={"record": str(path), "cluster": said_of(journal.record)})
