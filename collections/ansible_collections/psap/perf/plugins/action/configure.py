# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from ansible_collections.psap.perf.plugins.module_utils.base.documents import plain
from ansible_collections.psap.perf.plugins.module_utils.cluster.configuring import configured
from ansible_collections.psap.perf.plugins.module_utils.cluster.manifests import MANAGED_BY
from ansible_collections.psap.perf.plugins.module_utils.cluster.query import Query
from ansible_collections.psap.perf.plugins.modules.configure import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.verb import PerfAction, VerbContext, VerbResult
from ansible_collections.psap.perf.plugins.plugin_utils.verb_documentation import argument_spec


class ActionModule(PerfAction):
    """Set values of a ConfigMap's text."""

    ARGUMENTS = argument_spec(DOCUMENTATION)

    def perform(self, context: VerbContext) -> VerbResult:
        """Read the text, and write it when it lacks anything."""
        args, cluster = context.args, context.cluster()
        query = Query("v1", "ConfigMap", namespace=args["namespace"], name=args["name"])
        present = cluster.get(query)
        before = str(((present or {}).get("data") or {}).get(args["key"], ""))
        after = configured(before, plain(args["values"]), f"{args['key']} of {query}")
        changed = present is None or before != after
        if present is None and not context.check_mode:
            metadata = {"name": args["name"], "namespace": args["namespace"], "labels": MANAGED_BY}
            body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {args["key"]: after}}
            cluster.apply(body)
        elif changed and present is not None:
            cluster.merge(query, {"data": {args["key"]: after}}, dry_run=context.check_mode)
        difference = {"before_header": str(query), "after_header": str(query), "before": before, "after": after}
        return VerbResult(changed, {"text": after}, difference)
