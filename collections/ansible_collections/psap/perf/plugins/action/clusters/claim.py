# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from dataclasses import replace

from ansible_collections.psap.perf.plugins.module_utils.base.clock import parse_utc, seconds
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.clusters.hive import await_claim, claim, is_claimed
from ansible_collections.psap.perf.plugins.module_utils.clusters.record import (
    CREATED,
    DESTROYED,
    ClusterRecord,
    Journal,
    read_record,
)
from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.access import Access
from ansible_collections.psap.perf.plugins.modules.clusters.claim import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.clusters import begin, path_of, said_of, where_hive_runs
from ansible_collections.psap.perf.plugins.plugin_utils.verb import PerfAction, VerbContext, VerbResult
from ansible_collections.psap.perf.plugins.plugin_utils.verb_documentation import argument_spec
from ansible_collections.psap.perf.plugins.plugin_utils.waiting_file import shown_wait


class ActionModule(PerfAction):
    """Claim a cluster, and wait for it."""

    ARGUMENTS = argument_spec(DOCUMENTATION)
    RUNS_IN_CHECK_MODE = False

    def describe(self, context: VerbContext) -> str:
        """Say what would be claimed."""
        return f"would claim a cluster of pool {context.args['namespace']}/{context.args['pool']}"

    def perform(self, context: VerbContext) -> VerbResult:
        """Note it, claim it, and wait until it runs."""
        path, timeout_s = path_of(context), seconds(context.args["timeout"])
        former = read_record(path)
        begun = _begun(context) if former is None or former.phase == DESTROYED else former
        if begun.method != "hive":
            raise UsageError(f"{path} is the record of a cluster by {begun.method}, not of one that Hive has")
        with where_hive_runs(context, begun) as hub:
            if begun.phase == CREATED and is_claimed(hub, begun):
                return VerbResult(values={"record": str(path), "cluster": said_of(begun)})
            if begun.phase == CREATED:
                # its lifetime was over, or somebody deleted it
                Journal(path, begun).forget()
                begun = _begun(context)
            journal = Journal(path, begun)
            journal.note()
            with shown_wait(
                context.command_directory(), f"a cluster of pool {context.args['pool']}", timeout_s
            ) as show:
                claim(hub, journal)
                patience_s = seconds(context.args["patience"])
                await_claim(hub, journal, timeout_s, patience_s, context.check_interrupted, show)
        warnings = _warnings(journal.record)
        return VerbResult(
            changed=True, values={"record": str(path), "cluster": said_of(journal.record)}, warnings=warnings
        )


def _begun(context: VerbContext) -> ClusterRecord:
    args = context.args
    given = Access(args["kubeconfig"], args["context"] or None) if args["kubeconfig"] else None
    hub = given or Access.from_variables(context.variables)
    where = {"pool": args["pool"], "namespace": args["namespace"], "hub": hub.variables()}
    return replace(begin(context, "hive"), destruction=where)


def _warnings(record: ClusterRecord) -> tuple[str, ...]:
    left_s = (parse_utc(record.expires) - parse_utc(record.created)).total_seconds()
    if left_s >= seconds(record.time_to_live):
        return ()
    return (
        f"Hive deletes the cluster {record.name} at {record.expires}: its pool allows less than {record.time_to_live}",
    )
