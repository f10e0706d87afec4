# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass

from ansible_collections.psap.perf.plugins.module_utils.kube_api.query import Query
from ansible_collections.psap.perf.plugins.module_utils.provisioning.profiles import Profile, check_applied, profile_of
from ansible_collections.psap.perf.plugins.modules.clusters.profile import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.argument_specs import argument_spec
from ansible_collections.psap.perf.plugins.plugin_utils.verb import PerfAction, VerbContext, VerbResult


@dataclass(frozen=True, slots=True)
class Arguments:
    profiles: Mapping[str, str]
    applied: tuple[str, ...] | None


class ActionModule(PerfAction):
    """Find the profile."""

    ARGUMENTS = argument_spec(DOCUMENTATION)

    def perform(self, context: VerbContext) -> VerbResult:
        """Read the nodes, and compare their names and labels."""
        args = context.arguments(Arguments)
        nodes, _version = context.cluster().list(Query("v1", "Node"))
        profile = profile_of(nodes, args.profiles)
        if args.applied is not None:
            check_applied(profile, args.applied)
        return VerbResult(values=asdict(profile or Profile("", "", "")))
