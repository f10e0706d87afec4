# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from ansible_collections.psap.perf.plugins.module_utils.openshift.entitlements import (
    check_authority,
    check_entitlement,
)
from ansible_collections.psap.perf.plugins.modules.openshift.check_entitlement import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.argument_specs import argument_spec
from ansible_collections.psap.perf.plugins.plugin_utils.verb import PerfAction, VerbContext, VerbResult


@dataclass(frozen=True, slots=True)
class Arguments:
    pem: str
    ca: str


class ActionModule(PerfAction):
    """Check the PEM of an entitlement."""

    ARGUMENTS = argument_spec(DOCUMENTATION)

    def perform(self, context: VerbContext) -> VerbResult:
        """Check entitlement and authority."""
        args, now = context.arguments(Arguments), datetime.now(UTC)
        expires = check_entitlement(context.secret(args.pem), f"the entitlement {args.pem}", now)
        if args.ca:
            check_authority(context.secret(args.ca), f"the CA {args.ca}", now)
        return VerbResult(values={"expires": expires.isoformat()})
