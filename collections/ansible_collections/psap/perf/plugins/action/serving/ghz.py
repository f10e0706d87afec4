# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from dataclasses import dataclass

from ansible_collections.psap.perf.plugins.module_utils.base.documents import completing
from ansible_collections.psap.perf.plugins.module_utils.serving.grpc.ghz import IN_POD, OUTPUT, WARM_UP, count_requests
from ansible_collections.psap.perf.plugins.modules.serving.ghz import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.argument_specs import argument_spec
from ansible_collections.psap.perf.plugins.plugin_utils.pod_results import fetch_results
from ansible_collections.psap.perf.plugins.plugin_utils.verb import PerfAction, VerbContext, VerbResult


@dataclass(frozen=True, slots=True)
class Arguments:
    namespace: str
    pod_selector: str
    folder: str
    complete: bool


class ActionModule(PerfAction):
    """Fetch the results of ghz."""

    ARGUMENTS = argument_spec(DOCUMENTATION)
    RUNS_IN_CHECK_MODE = False

    def describe(self, context: VerbContext) -> str:
        """Return the pod."""
        return f"would fetch the results from the pod {context.arguments(Arguments).pod_selector}"

    def perform(self, context: VerbContext) -> VerbResult:
        """Fetch, and count the requests."""
        args = context.arguments(Arguments)
        results = context.directory / "artifacts" / args.folder / (WARM_UP if args.complete else OUTPUT)
        results.parent.mkdir(parents=True, exist_ok=True)
        with completing(results) as partial, partial.open("wb") as file:
            fetch_results(context, args.namespace, args.pod_selector, IN_POD, file)
        requests, failed = count_requests(results, args.complete)
        warnings = (f"{failed} of {requests} calls failed",) if failed else ()
        return VerbResult(changed=True, values={"requests": requests, "requests_failed": failed}, warnings=warnings)
