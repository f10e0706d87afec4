# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from ansible_collections.psap.perf.plugins.module_utils.base.clock import seconds
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.clusters.install_config import InstallPlan, check_pull_secret
from ansible_collections.psap.perf.plugins.module_utils.clusters.installer import require_fips_host
from ansible_collections.psap.perf.plugins.module_utils.clusters.ocp import Installation, begun, create, destroy
from ansible_collections.psap.perf.plugins.module_utils.clusters.record import (
    CREATED,
    DESTROYED,
    Journal,
    read_record,
)
from ansible_collections.psap.perf.plugins.modules.clusters.install import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.clusters import begin, path_of, said_of
from ansible_collections.psap.perf.plugins.plugin_utils.installing import installer_of, plan_of
from ansible_collections.psap.perf.plugins.plugin_utils.verb import PerfAction, VerbContext, VerbResult
from ansible_collections.psap.perf.plugins.plugin_utils.verb_documentation import argument_spec
from ansible_collections.psap.perf.plugins.plugin_utils.waiting_file import shown_wait


class ActionModule(PerfAction):
    """Create a cluster."""

    ARGUMENTS = argument_spec(DOCUMENTATION)
    RUNS_IN_CHECK_MODE = False

    def describe(self, context: VerbContext) -> str:
        """Say what would be created, if it can be."""
        plan = _checked(plan_of(context.args, begin(context, "ocp"), None))
        return f"would create {plan.name}.{plan.base_domain} in {plan.region}, a {plan.topology} of OpenShift"

    def perform(self, context: VerbContext) -> VerbResult:
        """Note it, have it created, and note where what is of it is."""
        path, args = path_of(context), context.args
        former = read_record(path)
        if former is not None and former.method != "ocp":
            raise UsageError(f"{path} is the record of a cluster by {former.method}, not of one that is installed")
        if former is not None and former.phase == CREATED:
            return VerbResult(values={"record": str(path), "cluster": said_of(former)})
        record = begin(context, "ocp") if former is None or former.phase == DESTROYED else former
        timeout_s = seconds(args["timeout"])
        with shown_wait(context.command_directory(), f"the cluster {record.name}", timeout_s) as show:
            installer = installer_of(context, record, show)
            release, wanted = installer.release(), args["release"]
            if wanted and release.version != wanted and not release.version.startswith((f"{wanted}.", f"{wanted}-")):
                raise UsageError(f"{installer.program} is of release {release.version}, not {wanted}; name another one")
            plan = _checked(plan_of(args, record, release))
            journal = Journal(path, record)
            journal.note(
                destruction={**record.destruction, "program": installer.program, "region": plan.region},
                secrets={"aws": args["credentials"]} if args["credentials"] else {},
            )
            if begun(journal.record):
                destroy(installer, journal.record, timeout_s)
                left = {name: value for name, value in journal.record.destruction.items() if name != "metadata"}
                journal.note(destruction={**left, "step": ""})
            create(installer, journal, _installation(context, plan, timeout_s))
        return VerbResult(changed=True, values={"record": str(path), "cluster": said_of(journal.record)})


def _checked(plan: InstallPlan) -> InstallPlan:
    """Refuse a plan that the installer would refuse on this host; otherwise return it."""
    plan.check()
    if plan.fips:
        require_fips_host()
    return plan


def _installation(context: VerbContext, plan: InstallPlan, timeout_s: float) -> Installation:
    pull_secret = context.secret(context.args["pull_secret"]).strip()
    check_pull_secret(pull_secret)
    return Installation(
        plan=plan,
        pull_secret=pull_secret,
        timeout_s=timeout_s,
        artifacts=context.directory,
        redact=context.redactor.redact,
        hide=context.redactor.add,
    )
