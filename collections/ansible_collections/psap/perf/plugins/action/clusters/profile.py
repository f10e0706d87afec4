# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from dataclasses import asdict

from ansible_collections.psap.perf.plugins.module_utils.cluster.query import Query
from ansible_collections.psap.perf.plugins.module_utils.clusters.profiles import Profile, check_applied, profile_of
from ansible_collections.psap.perf.plugins.modules.clusters.profile import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.verb import PerfAction, VerbContext, VerbResult
from ansible_collections.psap.perf.plugins.plugin_utils.verb_documentation import argument_spec


class ActionModule(PerfAction):
    """Find the profile."""

    ARGUMENTS = argument_spec(DOCUMENTATION)

    def perform(self, context: VerbContext) -> VerbResult:
        """Look at the nodes."""
        nodes, _version = context.cluster().list(Query("v1", "Node"))
        profile = profile_of(nodes, context.args["profiles"])
        if context.args["applied"] is not None:
            check_applied(profile, context.args["applied"])
        return VerbResult(values=asdict(profile or Profile("", "", "")))
