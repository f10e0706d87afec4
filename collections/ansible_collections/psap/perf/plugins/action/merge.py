# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.documents import dump_yaml, plain
from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError
from ansible_collections.psap.perf.plugins.module_utils.cluster.client import Cluster
from ansible_collections.psap.perf.plugins.module_utils.cluster.manifests import Manifest, hidden, readable, stable
from ansible_collections.psap.perf.plugins.module_utils.cluster.query import Query, query_from
from ansible_collections.psap.perf.plugins.modules.merge import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.verb import PerfAction, VerbContext, VerbResult
from ansible_collections.psap.perf.plugins.plugin_utils.verb_documentation import argument_spec


class ActionModule(PerfAction):
    """Merge fields into an object."""

    ARGUMENTS = argument_spec(DOCUMENTATION)

    def perform(self, context: VerbContext) -> VerbResult:
        """Let the server merge, and see by the object's version whether that changed it."""
        args = context.args
        cluster = context.cluster()
        query = query_from(args)
        change = plain(args["change"])
        before = _present(cluster, query, context.check_mode)
        if before is None:
            if not context.check_mode:
                raise ClusterError(f"there is no {query} to change")
            return VerbResult(changed=True, values={"object": change}, diff=_difference(query, {}, change))
        after = cluster.merge(query, change, dry_run=context.check_mode)
        changed = stable(before) != stable(after) or before.get("status") != after.get("status")
        return VerbResult(changed, {"object": readable(after)}, _difference(query, before, after))


def _present(cluster: Cluster, query: Query, tolerant: bool) -> Manifest | None:
    if tolerant and not cluster.serves(query.api_version, query.kind):
        return None
    return cluster.get(query)


def _difference(query: Query, before: Manifest, after: Manifest) -> Mapping[str, Any]:
    name = str(query)
    shown = [dump_yaml(hidden(stable(item))) if "metadata" in item else dump_yaml(item) for item in (before, after)]
    return {"before_header": name, "after_header": name, "before": shown[0], "after": shown[1]}
