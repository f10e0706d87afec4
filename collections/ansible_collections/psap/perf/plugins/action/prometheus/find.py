# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import time
from dataclasses import dataclass

from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError
from ansible_collections.psap.perf.plugins.modules.prometheus.find import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.argument_specs import argument_spec
from ansible_collections.psap.perf.plugins.plugin_utils.prometheus import EXEC, PrometheusArguments, address_of, way_of
from ansible_collections.psap.perf.plugins.plugin_utils.verb import PerfAction, VerbContext, VerbResult


@dataclass(frozen=True, slots=True)
class Arguments(PrometheusArguments):
    via: str
    namespace: str
    required: bool


class ActionModule(PerfAction):
    """Find Prometheus."""

    ARGUMENTS = argument_spec(DOCUMENTATION)

    def perform(self, context: VerbContext) -> VerbResult:
        """Return its address."""
        args = context.arguments(Arguments)
        address, origin = None, ""
        try:
            address = address_of(context, args)
        except ClusterError as error:
            if args.required and args.via != EXEC and not context.check_mode:
                raise
            origin = str(error)
        return VerbResult(
            values={
                "found": address is not None,
                "url": address.url if address else "",
                "origin": address.origin if address else origin,
                "via": way_of(args.via, address, args.namespace),
                "at_s": round(time.time(), 3),
            }
        )
