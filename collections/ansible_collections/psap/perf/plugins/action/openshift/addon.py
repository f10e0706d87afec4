# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from ansible_collections.psap.perf.plugins.module_utils.base.clock import seconds
from ansible_collections.psap.perf.plugins.module_utils.openshift.addons import (
    READY,
    AddonManager,
    Installation,
    Wanted,
    installed,
)
from ansible_collections.psap.perf.plugins.modules.openshift.addon import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.verb import PerfAction, VerbContext, VerbResult
from ansible_collections.psap.perf.plugins.plugin_utils.verb_documentation import argument_spec


class ActionModule(PerfAction):
    """Install an add-on."""

    ARGUMENTS = argument_spec(DOCUMENTATION)

    def perform(self, context: VerbContext) -> VerbResult:
        """Ask for it, and wait for what becomes of it."""
        args = context.args
        token = context.secret(args["token"])
        with AddonManager(args["url"], args["sso_url"], token, context.redactor.add) as manager:
            wanted = Wanted(
                manager.cluster_id(args["cluster"]),
                args["addon"],
                {name: str(value) for name, value in args["parameters"].items()},
                args["until"] == READY,
                seconds(args["timeout"]),
            )
            namespace = manager.namespace(wanted.addon)
            if context.check_mode:
                there = manager.installation(wanted.cluster, wanted.addon)
                found, changed = there or Installation("", "", ""), there is None
            else:
                found, changed = installed(manager, wanted, context.check_interrupted)
        return VerbResult(changed, {"state": found.state, "csv": found.csv, "namespace": namespace})
