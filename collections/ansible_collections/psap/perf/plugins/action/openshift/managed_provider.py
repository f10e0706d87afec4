# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.openshift.cluster_manager import ClusterManager
from ansible_collections.psap.perf.plugins.module_utils.openshift.identity_providers import forget
from ansible_collections.psap.perf.plugins.module_utils.openshift.managed_providers import add, remove
from ansible_collections.psap.perf.plugins.modules.openshift.managed_provider import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.argument_specs import argument_spec
from ansible_collections.psap.perf.plugins.plugin_utils.verb import PerfAction, VerbContext, VerbResult


@dataclass(frozen=True, slots=True)
class Arguments:
    cluster: str
    provider: dict[str, Any]
    bind_password: str
    state: Literal["present", "absent"]
    token: str
    url: str
    sso_url: str


class ActionModule(PerfAction):
    """Add an identity provider of a managed cluster, or remove it."""

    ARGUMENTS = argument_spec(DOCUMENTATION)

    def perform(self, context: VerbContext) -> VerbResult:
        """Change it in OCM; after a removal, delete its identities in the cluster."""
        args = context.arguments(Arguments)
        provider = args.provider
        present, dry = args.state == "present", context.check_mode
        if present and not args.bind_password:
            raise UsageError("state present needs bind_password, a reference to a secret")
        token = context.secret(args.token).strip()
        with ClusterManager(args.url, args.sso_url, token, context.redactor.add) as manager:
            identity = manager.cluster_id(args.cluster)
            if present:
                return VerbResult(add(manager, identity, provider, context.secret(args.bind_password), dry=dry))
            removed = remove(manager, identity, provider, dry=dry)
        forgotten = forget(context.cluster(), str(provider["name"]), dry=dry)
        return VerbResult(removed or forgotten)
