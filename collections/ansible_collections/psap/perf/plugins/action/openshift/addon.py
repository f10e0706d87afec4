# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.clock import Seconds
from ansible_collections.psap.perf.plugins.module_utils.openshift.addons import (
    AddonManager,
    AddonRequest,
    Installation,
    install_addon,
)
from ansible_collections.psap.perf.plugins.modules.openshift.addon import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.argument_specs import argument_spec
from ansible_collections.psap.perf.plugins.plugin_utils.verb import CommandAction, VerbContext, VerbResult


@dataclass(frozen=True, slots=True)
class Arguments:
    """The arguments of the command, and the first two, which its task passes."""

    addon: str
    parameters: Mapping[str, Any]
    cluster_name: str
    token: str
    wait_for_ready_state: bool
    timeout: Seconds
    url: str
    sso_url: str


class ActionModule(CommandAction):
    """Install an add-on."""

    ARGUMENTS = argument_spec(DOCUMENTATION)

    def perform(self, context: VerbContext) -> VerbResult:
        """Request it, and wait for its state."""
        args = context.arguments(Arguments)
        token = context.secret(args.token)
        with AddonManager(args.url, args.sso_url, token, context.redactor.add) as manager:
            wanted = AddonRequest(
                manager.cluster_id(args.cluster_name),
                args.addon,
                {name: str(value) for name, value in args.parameters.items()},
                args.wait_for_ready_state,
                args.timeout,
            )
            namespace = manager.namespace(wanted.addon)
            if context.check_mode:
                present = manager.installation(wanted.cluster, wanted.addon)
                found, changed = present or Installation("", "", ""), present is None
            else:
                found, changed = install_addon(manager, wanted, context.check_interrupted)
        return VerbResult(changed, {"state": found.state, "csv": found.csv, "namespace": namespace})
