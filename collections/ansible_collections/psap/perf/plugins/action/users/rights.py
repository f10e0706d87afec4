# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.kube_api import rights
from ansible_collections.psap.perf.plugins.module_utils.users.grants import Account, grants
from ansible_collections.psap.perf.plugins.modules.users.rights import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.argument_specs import argument_spec
from ansible_collections.psap.perf.plugins.plugin_utils.role_rights import rules_of
from ansible_collections.psap.perf.plugins.plugin_utils.verb import PerfAction, VerbContext, VerbResult


@dataclass(frozen=True, slots=True)
class Arguments:
    namespace: str
    service_account: str
    rights: tuple[Mapping[str, Any], ...]


class ActionModule(PerfAction):
    """Return roles for a service account."""

    ARGUMENTS = argument_spec(DOCUMENTATION)

    def perform(self, context: VerbContext) -> VerbResult:
        """Expand the rules."""
        args, cluster = context.arguments(Arguments), context.cluster()
        wanted = rights.rights(rights.applicable(args.rights, cluster), rules_of)
        account = Account(args.namespace, args.service_account)
        return VerbResult(values={"manifests": grants(account, wanted, cluster)})
