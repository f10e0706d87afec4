# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from ansible_collections.psap.perf.plugins.module_utils.hosts.facts import host_facts
from ansible_collections.psap.perf.plugins.modules.hosts.facts import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.argument_specs import argument_spec
from ansible_collections.psap.perf.plugins.plugin_utils.hosts import HostAction
from ansible_collections.psap.perf.plugins.plugin_utils.verb import VerbContext, VerbResult

# neither addresses nor users
_SUBSETS = ["!all", "!min", "hardware", "virtual", "distribution", "platform"]


class ActionModule(HostAction):
    """Read the facts of a host."""

    ARGUMENTS = argument_spec(DOCUMENTATION)

    def perform(self, context: VerbContext) -> VerbResult:
        """Run Ansible's module."""
        result = self.on_host(context, "ansible.builtin.setup", {"gather_subset": _SUBSETS})
        return VerbResult(values={"facts": host_facts(result["ansible_facts"])})
