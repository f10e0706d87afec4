# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.documents import write_yaml
from ansible_collections.psap.perf.plugins.module_utils.base.naming import path_part
from ansible_collections.psap.perf.plugins.modules.record import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.argument_specs import argument_spec
from ansible_collections.psap.perf.plugins.plugin_utils.verb import PerfAction, VerbContext, VerbResult


@dataclass(frozen=True, slots=True)
class Arguments:
    file: str
    values: Mapping[str, Any]


class ActionModule(PerfAction):
    """Keep values among the artifacts."""

    ARGUMENTS = argument_spec(DOCUMENTATION)

    def perform(self, context: VerbContext) -> VerbResult:
        """Write the document."""
        args = context.arguments(Arguments)
        path = context.directory / "artifacts" / f"{path_part(args.file)}.yml"
        write_yaml(path, {"schema": f"psap.perf/{path.stem}/1", **args.values})
        return VerbResult(values={"file": str(path), "values": args.values})
