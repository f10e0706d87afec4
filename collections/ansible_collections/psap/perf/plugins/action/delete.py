# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.clock import seconds
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.cluster.deleting import delete_matching
from ansible_collections.psap.perf.plugins.module_utils.cluster.query import Query, query_from
from ansible_collections.psap.perf.plugins.modules.delete import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.verb import PerfAction, VerbContext, VerbResult
from ansible_collections.psap.perf.plugins.plugin_utils.verb_documentation import argument_spec


class ActionModule(PerfAction):
    """Delete objects by their labels."""

    ARGUMENTS = argument_spec(DOCUMENTATION)

    def perform(self, context: VerbContext) -> VerbResult:
        """Delete kind after kind."""
        if not (context.args["name"] or context.args["label_selector"]):
            raise UsageError("delete takes a name or a label_selector; it does not delete all there is")
        deleted: dict[str, int] = {}
        differences: list[Mapping[str, Any]] = []
        for query in _queries(context.args):
            names = delete_matching(
                context.cluster(),
                query,
                check_mode=context.check_mode,
                timeout_s=seconds(context.args["timeout"]),
                check=context.check_interrupted,
            )
            deleted[query.kind] = deleted.get(query.kind, 0) + len(names)
            if names:
                title = str(query)
                differences.append(
                    {"before_header": title, "after_header": title, "before": _lines(names), "after": ""}
                )
        return VerbResult(changed=bool(differences), values={"deleted": deleted}, diff=differences)


def _queries(args: Mapping[str, Any]) -> Iterator[Query]:
    """Kind after kind, in every namespace, every name."""
    places = itertools.product(args["kinds"], args["namespace"] or [None], args["name"] or [None])
    for kind, namespace, name in places:
        selector = args["label_selector"] or None
        yield query_from({**kind, "namespace": namespace or None, "name": name or None, "label_selector": selector})


def _lines(names: list[str]) -> str:
    return "".join(f"{name}\n" for name in names)
