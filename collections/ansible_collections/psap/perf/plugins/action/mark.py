# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.documents import dump_yaml, plain
from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError
from ansible_collections.psap.perf.plugins.module_utils.cluster.applying import query_of
from ansible_collections.psap.perf.plugins.module_utils.cluster.manifests import Manifest, title
from ansible_collections.psap.perf.plugins.module_utils.cluster.query import Query, query_from
from ansible_collections.psap.perf.plugins.modules.mark import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.verb import PerfAction, VerbContext, VerbResult
from ansible_collections.psap.perf.plugins.plugin_utils.verb_documentation import argument_spec


class ActionModule(PerfAction):
    """Set labels and annotations."""

    ARGUMENTS = argument_spec(DOCUMENTATION)

    def perform(self, context: VerbContext) -> VerbResult:
        """Merge them into each object that lacks any of them."""
        args = context.args
        cluster = context.cluster()
        wanted = {name: _texts(args[name]) for name in ("labels", "annotations") if args[name]}
        query = query_from(args)
        found = _found(cluster.list(query)[0], query, context)
        differences: list[Mapping[str, Any]] = []
        for item in found:
            change = {name: missing(item, name, values) for name, values in wanted.items()}
            if any(change.values()):
                before = {name: item["metadata"].get(name) or {} for name in wanted}
                after = cluster.merge(query_of(item), {"metadata": change}, dry_run=context.check_mode)["metadata"]
                differences.append(_difference(item, before, {name: after.get(name) or {} for name in wanted}))
        marked = [str(difference["before_header"]) for difference in differences]
        return VerbResult(changed=bool(marked), values={"marked": marked}, diff=differences)


def missing(item: Manifest, kind: str, values: Mapping[str, str | None]) -> dict[str, str | None]:
    """Which of *values* the *item* does not have as they are to be; None for what it is not to have."""
    there = item["metadata"].get(kind) or {}
    return {name: value for name, value in values.items() if there.get(name) != value}


def _found(items: list[Manifest], query: Query, context: VerbContext) -> list[Manifest]:
    """*items*, which there must be, but for a check: an earlier command of the run may be to make them."""
    if not items and not context.check_mode:
        raise ClusterError(f"there is no {query} to mark")
    return items


def _texts(values: Mapping[str, Any]) -> dict[str, str | None]:
    return {name: None if value is None else str(value) for name, value in plain(values).items()}


def _difference(item: Manifest, before: Mapping[str, Any], after: Mapping[str, Any]) -> Mapping[str, Any]:
    name = title(item)
    return {"before_header": name, "after_header": name, "before": dump_yaml(before), "after": dump_yaml(after)}
