# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.kube_api.merging import Change, patch_all
from ansible_collections.psap.perf.plugins.module_utils.kube_api.query import QueryArguments
from ansible_collections.psap.perf.plugins.modules.patch import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.argument_specs import argument_spec
from ansible_collections.psap.perf.plugins.plugin_utils.verb import PerfAction, VerbContext, VerbResult


@dataclass(frozen=True, slots=True)
class Arguments(QueryArguments):
    change: Mapping[str, Any]
    key: str | None


class ActionModule(PerfAction):
    """Change fields of objects."""

    ARGUMENTS = argument_spec(DOCUMENTATION)

    def perform(self, context: VerbContext) -> VerbResult:
        """Patch each object in which part of the change is missing."""
        args = context.arguments(Arguments)
        _refuse_unclear(args)
        change = Change(args.change, args.key)
        outcomes = patch_all(context.cluster(), args.as_query(), change, context.check_mode, context.check_interrupted)
        patched = [outcome.title for outcome in outcomes]
        return VerbResult(bool(outcomes), {"patched": patched}, [outcome.difference for outcome in outcomes])


def _refuse_unclear(args: Arguments) -> None:
    chosen = [one for one in (args.name, args.label_selector) if one is not None]
    if "" in chosen or len(chosen) > 1:
        raise UsageError("patch accepts either name or label_selector, and it must not be empty")
    if args.key is not None and not (args.kind == "ConfigMap" and args.name and args.namespace):
        raise UsageError("patch accepts key only with kind ConfigMap, a name and a namespace")
