# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.documents import plain
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.cluster.merging import Change, patch_all
from ansible_collections.psap.perf.plugins.module_utils.cluster.query import query_from
from ansible_collections.psap.perf.plugins.modules.patch import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.verb import PerfAction, VerbContext, VerbResult
from ansible_collections.psap.perf.plugins.plugin_utils.verb_documentation import argument_spec


class ActionModule(PerfAction):
    """Change fields of objects."""

    ARGUMENTS = argument_spec(DOCUMENTATION)

    def perform(self, context: VerbContext) -> VerbResult:
        """Patch each object that lacks any of the change."""
        args = context.args
        _refuse_unclear(args)
        change = Change(plain(args["change"]), args["key"])
        outcomes = patch_all(context.cluster(), query_from(args), change, context.check_mode, context.check_interrupted)
        patched = [outcome.title for outcome in outcomes]
        return VerbResult(bool(outcomes), {"patched": patched}, [outcome.difference for outcome in outcomes])


def _refuse_unclear(args: Mapping[str, Any]) -> None:
    chosen = [args[option] for option in ("name", "label_selector") if args[option] is not None]
    if "" in chosen or len(chosen) > 1:
        raise UsageError("patch takes either name or label_selector, and neither of them empty")
    if args["key"] is not None and not (args["kind"] == "ConfigMap" and args["name"] and args["namespace"]):
        raise UsageError("patch takes key with kind ConfigMap, a name and a namespace")
