# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from ansible_collections.psap.perf.plugins.module_utils.provisioning.hive import is_claimed, release
from ansible_collections.psap.perf.plugins.module_utils.provisioning.record import DESTROYED, Journal, read_record
from ansible_collections.psap.perf.plugins.plugin_utils.cluster_records import document_of, path_of, where_hive_runs
from ansible_collections.psap.perf.plugins.plugin_utils.verb import CommandAction, VerbContext, VerbResult


class ActionModule(CommandAction):
    """Release a claimed cluster."""

    def perform(self, context: VerbContext) -> VerbResult:
        """Delete the claim; in check mode, find out whether it exists."""
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
        with where_hive_runs(context, record) as hub:
            if context.check_mode:
                changed = is_claimed(hub, record)
                return VerbResult(changed=changed, values={"record": str(path), "cluster": document_of(record)})
            release(hub, record)
        journal.forget()
        return VerbResult(changed=True, values={"record": str(path), "cluster": document_of(journal.record)})
