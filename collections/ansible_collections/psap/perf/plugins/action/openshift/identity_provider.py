# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.openshift.identity_providers import OAUTH, add, remove
from ansible_collections.psap.perf.plugins.modules.openshift.identity_provider import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.argument_specs import argument_spec
from ansible_collections.psap.perf.plugins.plugin_utils.verb import PerfAction, VerbContext, VerbResult


@dataclass(frozen=True, slots=True)
class Arguments:
    provider: dict[str, Any]
    state: Literal["present", "absent"]


class ActionModule(PerfAction):
    """Add an identity provider, or remove it."""

    ARGUMENTS = argument_spec(DOCUMENTATION)

    def perform(self, context: VerbContext) -> VerbResult:
        """Change the list of identity providers if the cluster has one."""
        args, cluster = context.arguments(Arguments), context.cluster()
        provider = args.provider
        if not {"name", "type"} <= set(provider):
            raise UsageError("provider needs a name and a type")
        if not cluster.serves(OAUTH.api_version, OAUTH.kind):
            return VerbResult(
                skipped=f"{cluster.server} does not serve OAuth, so users cannot log in with {provider['name']}"
            )
        change = add if args.state == "present" else remove
        return VerbResult(changed=change(cluster, provider, dry=context.check_mode))
