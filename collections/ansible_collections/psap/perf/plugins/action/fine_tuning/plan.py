# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from dataclasses import asdict

from ansible_collections.psap.perf.plugins.module_utils.base.documents import plain
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.fine_tuning.plan import CONCURRENT, Plan, make_plan
from ansible_collections.psap.perf.plugins.modules.fine_tuning.plan import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.verb import PerfAction, VerbContext, VerbResult
from ansible_collections.psap.perf.plugins.plugin_utils.verb_documentation import argument_spec


class ActionModule(PerfAction):
    """Plan what the flow fine_tuning downloads and trains."""

    ARGUMENTS = argument_spec(DOCUMENTATION)

    def perform(self, context: VerbContext) -> VerbResult:
        """Plan, and see that the secrets are there."""
        plan = make_plan(plain(context.args["settings"]), plain(context.args["cells"]))
        _check_forks(plan, int(context.variables.get("ansible_forks", 1)))
        for reference in dict.fromkeys(download.creds for download in plan.downloads if download.creds):
            context.secret(reference)
        return VerbResult(values=asdict(plan))


def _check_forks(plan: Plan, forks: int) -> None:
    """Refuse more jobs at once than Ansible has processes for: the others would wait for them."""
    together = max((sum(one.phase == CONCURRENT for one in cell.trainings) for cell in plan.cells), default=0)
    if together > forks:
        raise UsageError(
            f"fine_tuning_multi_model: {together} jobs at once need as many forks, but Ansible has {forks}; give it "
            "more with ANSIBLE_FORKS, or use mode many_model"
        )
