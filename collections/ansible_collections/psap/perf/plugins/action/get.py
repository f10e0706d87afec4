# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import jmespath
import jmespath.exceptions
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.kube_api.manifests import readable
from ansible_collections.psap.perf.plugins.module_utils.kube_api.query import QueryArguments
from ansible_collections.psap.perf.plugins.modules.get import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.argument_specs import argument_spec
from ansible_collections.psap.perf.plugins.plugin_utils.verb import PerfAction, VerbContext, VerbResult


@dataclass(frozen=True, slots=True)
class Arguments(QueryArguments):
    query: str | None


class ActionModule(PerfAction):
    """Get objects."""

    ARGUMENTS = argument_spec(DOCUMENTATION)

    def perform(self, context: VerbContext) -> VerbResult:
        """List the objects."""
        args = context.arguments(Arguments)
        cluster = context.cluster()
        query = args.as_query()
        if not cluster.serves(query.api_version, query.kind):
            return VerbResult(values={"objects": [], "served": False})
        part = _expression(args.query).search if args.query else dict
        found, _version = cluster.list(query)
        return VerbResult(values={"objects": [part(readable(item)) for item in found], "served": True})


def _expression(text: str) -> Any:
    try:
        return jmespath.compile(text)
    except jmespath.exceptions.JMESPathError as error:
        raise UsageError(f"query: {text!r} is not a JMESPath expression: {error}") from error
