# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.clock import Seconds
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.kube_api.deleting import delete_matching
from ansible_collections.psap.perf.plugins.module_utils.kube_api.known_kinds import api_version_of
from ansible_collections.psap.perf.plugins.module_utils.kube_api.query import Query
from ansible_collections.psap.perf.plugins.modules.delete import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.argument_specs import argument_spec
from ansible_collections.psap.perf.plugins.plugin_utils.verb import PerfAction, VerbContext, VerbResult


@dataclass(frozen=True, slots=True)
class Kind:
    kind: str
    api_version: str | None


@dataclass(frozen=True, slots=True)
class Arguments:
    kinds: tuple[Kind, ...]
    namespace: tuple[str, ...] | None
    name: tuple[str, ...] | None
    label_selector: str | None
    timeout: Seconds


class ActionModule(PerfAction):
    """Delete objects by their labels."""

    ARGUMENTS = argument_spec(DOCUMENTATION)

    def perform(self, context: VerbContext) -> VerbResult:
        """Delete kind after kind."""
        args = context.arguments(Arguments)
        if not (args.name or args.label_selector):
            raise UsageError("delete accepts a name or a label_selector; it does not delete all objects")
        deleted: dict[str, int] = {}
        differences: list[Mapping[str, Any]] = []
        for query in _queries(args):
            names = delete_matching(
                context.cluster(),
                query,
                check_mode=context.check_mode,
                timeout_s=args.timeout,
                check=context.check_interrupted,
            )
            deleted[query.kind] = deleted.get(query.kind, 0) + len(names)
            if names:
                title = str(query)
                differences.append(
                    {"before_header": title, "after_header": title, "before": _lines(names), "after": ""}
                )
        return VerbResult(changed=bool(differences), values={"deleted": deleted}, diff=differences)


def _queries(args: Arguments) -> Iterator[Query]:
    """Yield the queries of each kind, in every namespace, by every name."""
    for kind, namespace, name in itertools.product(args.kinds, args.namespace or [None], args.name or [None]):
        version = api_version_of(kind.kind, kind.api_version)
        yield Query(version, kind.kind, namespace or None, name or None, args.label_selector or None)


def _lines(names: list[str]) -> str:
    return "".join(f"{name}\n" for name in names)
