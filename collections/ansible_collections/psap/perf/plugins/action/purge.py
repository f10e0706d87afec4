# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.clock import Seconds
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.kube_api.purging import Patience, Purged, definitions, purge
from ansible_collections.psap.perf.plugins.modules.purge import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.argument_specs import argument_spec
from ansible_collections.psap.perf.plugins.plugin_utils.verb import PerfAction, VerbContext, VerbResult


@dataclass(frozen=True, slots=True)
class Arguments:
    groups: tuple[str, ...]
    labels: tuple[str, ...]
    first: tuple[str, ...]
    finalizers_after: Seconds
    timeout: Seconds


class ActionModule(PerfAction):
    """Remove kinds with their objects."""

    ARGUMENTS = argument_spec(DOCUMENTATION)

    def perform(self, context: VerbContext) -> VerbResult:
        """Choose the definitions, empty them, remove them."""
        args = context.arguments(Arguments)
        if not (args.groups or args.labels):
            raise UsageError("purge accepts groups or labels; it does not remove all definitions")
        cluster = context.cluster()
        found = definitions(cluster, args.groups, args.labels, args.first)
        patience = Patience(args.finalizers_after, args.timeout, context.check_interrupted)
        done = purge(cluster, found, patience, check_mode=context.check_mode)
        values = {
            "purged": {item.definition: len(item.objects) for item in done},
            "freed": [name for item in done for name in item.freed],
        }
        return VerbResult(bool(done), values, _differences(done), warnings=_warnings(done))


def _differences(done: Sequence[Purged]) -> list[Mapping[str, Any]]:
    return [
        {
            "before_header": item.definition,
            "after_header": item.definition,
            "before": "".join(f"{name}\n" for name in (item.definition, *item.objects)),
            "after": "",
        }
        for item in done
    ]


def _warnings(done: Sequence[Purged]) -> tuple[str, ...]:
    freed = [name for item in done for name in item.freed]
    warning = f"no controller finished these in time, so their finalizers were removed: {', '.join(freed)}"
    return (warning,) if freed else ()
