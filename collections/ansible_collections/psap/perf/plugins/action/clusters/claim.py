# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from dataclasses import dataclass, replace

from ansible_collections.psap.perf.plugins.module_utils.base.clock import Seconds, parse_utc, seconds
from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.access import Access
from ansible_collections.psap.perf.plugins.module_utils.provisioning.hive import await_claim, claim, is_claimed
from ansible_collections.psap.perf.plugins.module_utils.provisioning.record import (
    CREATED,
    ClusterRecord,
    Journal,
)
from ansible_collections.psap.perf.plugins.plugin_utils.cluster_records import (
    begin,
    existing,
    path_of,
    result_of,
    where_hive_runs,
)
from ansible_collections.psap.perf.plugins.plugin_utils.verb import CommandAction, VerbContext, VerbResult
from ansible_collections.psap.perf.plugins.plugin_utils.waiting_file import shown_wait


@dataclass(frozen=True, slots=True)
class Arguments:
    pool: str
    namespace: str
    kubeconfig: str
    context: str
    timeout: Seconds
    patience: Seconds


class ActionModule(CommandAction):
    """Claim a cluster, and wait for it."""

    RUNS_IN_CHECK_MODE = False

    def describe(self, context: VerbContext) -> str:
        """Return the pool of the cluster that would be claimed."""
        args = context.arguments(Arguments)
        return f"would claim a cluster of pool {args.namespace}/{args.pool}"

    def perform(self, context: VerbContext) -> VerbResult:
        """Record the cluster, claim it, and wait until it runs."""
        args, path = context.arguments(Arguments), path_of(context)
        begun = existing(path, "hive") or _new_record(context)
        with where_hive_runs(context, begun) as hub:
            if begun.phase == CREATED and is_claimed(hub, begun):
                return result_of(path, begun)
            if begun.phase == CREATED:
                # its lifetime was over, or another user deleted it
                Journal(path, begun).forget()
                begun = _new_record(context)
            journal = Journal(path, begun)
            journal.note()
            with shown_wait(context.command_directory(), f"a cluster of pool {args.pool}", args.timeout) as show:
                claim(hub, journal)
                await_claim(hub, journal, args.timeout, args.patience, context.check_interrupted, show)
        return replace(result_of(path, journal.record, changed=True), warnings=_warnings(journal.record))


def _new_record(context: VerbContext) -> ClusterRecord:
    args = context.arguments(Arguments)
    named = Access(args.kubeconfig, args.context or None) if args.kubeconfig else None
    hub = named or Access.from_variables(context.variables)
    where = {"pool": args.pool, "namespace": args.namespace, "hub": hub.variables()}
    return replace(begin(context, "hive"), destruction=where)


def _warnings(record: ClusterRecord) -> tuple[str, ...]:
    left_s = (parse_utc(record.expires) - parse_utc(record.created)).total_seconds()
    if left_s >= seconds(record.time_to_live):
        return ()
    return (
        f"Hive deletes the cluster {record.name} at {record.expires}: its pool allows less than {record.time_to_live}",
    )
