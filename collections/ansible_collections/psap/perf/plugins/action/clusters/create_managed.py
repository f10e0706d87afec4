# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from dataclasses import dataclass, replace

from ansible_collections.psap.perf.plugins.module_utils.base.clock import Seconds
from ansible_collections.psap.perf.plugins.module_utils.exporting.places import Keys
from ansible_collections.psap.perf.plugins.module_utils.provisioning.osd import (
    ManagedPlan,
    await_ready,
    body_of,
    exists,
    request,
)
from ansible_collections.psap.perf.plugins.module_utils.provisioning.record import (
    CREATED,
    ClusterRecord,
    Journal,
)
from ansible_collections.psap.perf.plugins.plugin_utils.cluster_records import begin, existing, path_of, result_of
from ansible_collections.psap.perf.plugins.plugin_utils.managed_clusters import manager_of
from ansible_collections.psap.perf.plugins.plugin_utils.verb import CommandAction, VerbContext, VerbResult
from ansible_collections.psap.perf.plugins.plugin_utils.waiting_file import shown_wait


@dataclass(frozen=True, slots=True)
class Arguments:
    token: str
    account: str
    credentials: str
    region: str
    release: str
    compute_machine_type: str
    compute_nodes: int
    multi_az: bool
    expires: bool
    url: str
    sso_url: str
    timeout: Seconds


class ActionModule(CommandAction):
    """Create a managed cluster."""

    RUNS_IN_CHECK_MODE = False

    def describe(self, context: VerbContext) -> str:
        """Return the name and region that the cluster would have."""
        return f"would request {begin(context, 'osd').name} from OCM in {context.arguments(Arguments).region}"

    def perform(self, context: VerbContext) -> VerbResult:
        """Record the cluster, request it, and wait until it is ready."""
        args, path = context.arguments(Arguments), path_of(context)
        record = existing(path, "osd") or _new_record(context)
        plan = _plan(context)
        body_of(record, plan)
        with manager_of(context, record, args.token) as manager:
            if record.phase == CREATED and exists(manager, record):
                return result_of(path, record)
            if record.phase == CREATED:
                # its time to live was over, or another user deleted it
                Journal(path, record).forget()
                record = _new_record(context)
            journal = Journal(path, record)
            journal.note()
            with shown_wait(context.command_directory(), f"the cluster {record.name}", args.timeout) as show:
                request(manager, record, plan)
                await_ready(manager, journal, args.timeout, context.check_interrupted, show, context.redactor.add)
        return result_of(path, journal.record, changed=True)


def _new_record(context: VerbContext) -> ClusterRecord:
    args = context.arguments(Arguments)
    where = {"url": args.url, "sso_url": args.sso_url}
    return replace(begin(context, "osd"), destruction=where, secrets={"token": args.token})


def _plan(context: VerbContext) -> ManagedPlan:
    args = context.arguments(Arguments)
    keys = Keys.parse(context.secret(args.credentials))
    for value in keys.secrets():
        context.redactor.add(value)
    return ManagedPlan(
        account=args.account,
        keys=keys,
        region=args.region,
        release=args.release,
        machine_type=args.compute_machine_type,
        nodes=args.compute_nodes,
        multi_az=args.multi_az,
        expires=args.expires,
    )
