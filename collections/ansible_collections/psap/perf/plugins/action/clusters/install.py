# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from dataclasses import dataclass

from ansible_collections.psap.perf.plugins.module_utils.base.clock import Seconds
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.provisioning.install_config import (
    InstallPlan,
    check_pull_secret,
)
from ansible_collections.psap.perf.plugins.module_utils.provisioning.installer import require_fips_host
from ansible_collections.psap.perf.plugins.module_utils.provisioning.ocp import Installation, begun, create, destroy
from ansible_collections.psap.perf.plugins.module_utils.provisioning.record import (
    CREATED,
    Journal,
)
from ansible_collections.psap.perf.plugins.plugin_utils.cluster_records import begin, existing, path_of, result_of
from ansible_collections.psap.perf.plugins.plugin_utils.installing import (
    InstallerArguments,
    PlanArguments,
    installer_of,
    plan_of,
)
from ansible_collections.psap.perf.plugins.plugin_utils.verb import CommandAction, VerbContext, VerbResult
from ansible_collections.psap.perf.plugins.plugin_utils.waiting_file import shown_wait


@dataclass(frozen=True, slots=True)
class Arguments(InstallerArguments):
    release: str
    pull_secret: str
    timeout: Seconds


class ActionModule(CommandAction):
    """Create a cluster."""

    RUNS_IN_CHECK_MODE = False

    def describe(self, context: VerbContext) -> str:
        """Return which cluster would be created, if it can be."""
        plan = _check_plan(plan_of(context.arguments(PlanArguments), begin(context, "ocp"), None))
        return f"would create {plan.name}.{plan.base_domain} in {plan.region}, a {plan.topology} of OpenShift"

    def perform(self, context: VerbContext) -> VerbResult:
        """Record the cluster, create it, and record where its files are."""
        args, path = context.arguments(Arguments), path_of(context)
        record = existing(path, "ocp") or begin(context, "ocp")
        if record.phase == CREATED:
            return result_of(path, record)
        with shown_wait(context.command_directory(), f"the cluster {record.name}", args.timeout) as show:
            installer = installer_of(context, record, show)
            release, wanted = installer.release(), args.release
            if wanted and release.version != wanted and not release.version.startswith((f"{wanted}.", f"{wanted}-")):
                raise UsageError(f"{installer.program} is of release {release.version}, not {wanted}; set another one")
            plan = _check_plan(plan_of(context.arguments(PlanArguments), record, release))
            journal = Journal(path, record)
            journal.note(
                destruction={**record.destruction, "program": installer.program, "region": plan.region},
                secrets={"aws": args.credentials} if args.credentials else {},
            )
            if begun(journal.record):
                destroy(installer, journal.record, args.timeout)
                left = {name: value for name, value in journal.record.destruction.items() if name != "metadata"}
                journal.note(destruction={**left, "step": ""})
            create(installer, journal, _installation(context, args, plan))
        return result_of(path, journal.record, changed=True)


def _check_plan(plan: InstallPlan) -> InstallPlan:
    """Refuse a plan that the installer would refuse on this host; otherwise return it."""
    plan.check()
    if plan.fips:
        require_fips_host()
    return plan


def _installation(context: VerbContext, args: Arguments, plan: InstallPlan) -> Installation:
    pull_secret = context.secret(args.pull_secret).strip()
    check_pull_secret(pull_secret)
    return Installation(
        plan=plan,
        pull_secret=pull_secret,
        timeout_s=args.timeout,
        artifacts=context.directory,
        redact=context.redactor.redact,
        hide=context.redactor.add,
    )
