# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from ansible_collections.psap.perf.plugins.module_utils.base.clock import seconds
from ansible_collections.psap.perf.plugins.module_utils.clusters.ocp import destroy
from ansible_collections.psap.perf.plugins.module_utils.clusters.record import DESTROYED, Journal, read_record
from ansible_collections.psap.perf.plugins.modules.clusters.uninstall import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.clusters import path_of, said_of
from ansible_collections.psap.perf.plugins.plugin_utils.installing import installer_of
from ansible_collections.psap.perf.plugins.plugin_utils.verb import PerfAction, VerbContext, VerbResult
from ansible_collections.psap.perf.plugins.plugin_utils.verb_documentation import argument_spec
from ansible_collections.psap.perf.plugins.plugin_utils.waiting_file import shown_wait


class ActionModule(PerfAction):
    """Destroy a cluster."""

    ARGUMENTS = argument_spec(DOCUMENTATION)

    def perform(self, context: VerbContext) -> VerbResult:
        """Destroy what the record names; in check mode say whether there may be something."""
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
        if context.check_mode:
            return VerbResult(changed=True, values={"record": str(path), "cluster": said_of(record)})
        timeout_s = seconds(context.args["timeout"])
        with shown_wait(context.command_directory(), f"the end of {record.name}", timeout_s) as show:
            if record.destruction.get("metadata"):
                destroy(installer_of(context, record, show), record, timeout_s)
        journal.forget()
        return VerbResult(changed=True, values={"record": str(path), "cluster": said_of(journal.record)})
