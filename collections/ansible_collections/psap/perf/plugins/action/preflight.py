# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from ansible_collections.psap.perf.plugins.module_utils.errors import ClusterError
from ansible_collections.psap.perf.plugins.module_utils.verb import PerfAction, VerbContext, VerbResult
from ansible_collections.psap.perf.plugins.module_utils.verb_documentation import argument_spec
from ansible_collections.psap.perf.plugins.modules.preflight import DOCUMENTATION


class ActionModule(PerfAction):
    """Look at the cluster before the run touches it."""

    ARGUMENTS = argument_spec(DOCUMENTATION)

    def perform(self, context: VerbContext) -> VerbResult:
        """Reach the cluster, and check what it serves."""
        cluster = context.cluster()
        needed = [(wanted["api_version"], wanted["kind"]) for wanted in context.args["requires"]]
        missing = [f"{kind} ({version})" for version, kind in needed if not cluster.serves(version, kind)]
        if missing:
            raise ClusterError(
                f"the cluster at {cluster.server} serves no {', no '.join(missing)}; install what defines it"
            )
        lab = cluster.lab() or {}
        facts = {
            "cluster": {"uid": cluster.uid(), "version": cluster.version(), "server": cluster.server},
            "lab": lab.get("name"),
            "simulated": _names(lab, "simulated"),
            "emulated": _names(lab, "emulated"),
        }
        return VerbResult(values={"run_facts": facts})


def _names(lab: dict[str, str], key: str) -> list[str]:
    return [name.strip() for name in lab.get(key, "").split(",") if name.strip()]
