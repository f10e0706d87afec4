# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from ansible_collections.psap.perf.plugins.module_utils.clusters.hive import is_claimed, release
from ansible_collections.psap.perf.plugins.module_utils.clusters.record import DESTROYED, Journal, read_record
from ansible_collections.psap.perf.plugins.modules.clusters.release import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.clusters import path_of, said_of, where_hive_runs
from ansible_collections.psap.perf.plugins.plugin_utils.verb import PerfAction, VerbContext, VerbResult
from ansible_collections.psap.perf.plugins.plugin_utils.verb_documentation import argument_spec


class ActionModule(PerfAction):
    """Release what was claimed."""

    ARGUMENTS = argument_spec(DOCUMENTATION)

    def perform(self, context: VerbContext) -> VerbResult:
        """Delete the claim; in check mode look for it."""
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
        with where_hive_runs(context, record) as hub:
            if context.check_mode:
                there = is_claimed(hub, record)
                return VerbResult(changed=there, values={"record": str(path), "cluster": said_of(record)})
            release(hub, record)
        journal.forget()
        return VerbResult(changed=True, values={"record": str(path), "cluster": said_of(journal.record)})
