# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from ansible_collections.psap.perf.plugins.module_utils.base.documents import completing
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.modules.fetch_files import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.argument_specs import argument_spec
from ansible_collections.psap.perf.plugins.plugin_utils.pod_results import fetch_results
from ansible_collections.psap.perf.plugins.plugin_utils.verb import PerfAction, VerbContext, VerbResult


@dataclass(frozen=True, slots=True)
class Arguments:
    namespace: str
    pod_selector: str
    container: str
    files: Mapping[str, str]


class ActionModule(PerfAction):
    """Fetch files of a pod."""

    ARGUMENTS = argument_spec(DOCUMENTATION)
    RUNS_IN_CHECK_MODE = False

    def describe(self, context: VerbContext) -> str:
        """Return the files and the pod."""
        args = context.arguments(Arguments)
        return f"would fetch {', '.join(args.files)} from the pod {args.pod_selector}"

    def perform(self, context: VerbContext) -> VerbResult:
        """Fetch the files, one after the other."""
        args = context.arguments(Arguments)
        artifacts = context.directory / "artifacts"
        size = 0
        for path, name in args.files.items():
            inside = PurePosixPath(name)
            if inside.is_absolute() or ".." in inside.parts:
                raise UsageError(f"files: {name} is not a path below artifacts/")
            target = artifacts / inside
            target.parent.mkdir(parents=True, exist_ok=True)
            with completing(target) as partial, partial.open("wb") as file:
                fetch_results(context, args.namespace, args.pod_selector, path, file, args.container)
            size += target.stat().st_size
        return VerbResult(changed=True, values={"bytes": size})
