# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass

from ansible_collections.psap.perf.plugins.module_utils.base.documents import write_json
from ansible_collections.psap.perf.plugins.module_utils.kube_api.query import Query
from ansible_collections.psap.perf.plugins.module_utils.run.environment import RunEnvironment
from ansible_collections.psap.perf.plugins.module_utils.serving.model_start import (
    FILE,
    ServiceObjects,
    document,
    of_earlier_attempt,
)
from ansible_collections.psap.perf.plugins.module_utils.waiting.model_pods import answering_pods
from ansible_collections.psap.perf.plugins.modules.serving.model_start import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.argument_specs import argument_spec
from ansible_collections.psap.perf.plugins.plugin_utils.serving.models import (
    ModelArguments,
    ServiceArguments,
    find_model_service,
    lab_parts,
)
from ansible_collections.psap.perf.plugins.plugin_utils.verb import PerfAction, VerbContext, VerbResult


@dataclass(frozen=True, slots=True)
class Arguments(ModelArguments):
    asked: ServiceArguments
    seen: Mapping[str, str]


class ActionModule(PerfAction):
    """Record the steps of a model's start."""

    ARGUMENTS = argument_spec(DOCUMENTATION)
    RUNS_IN_CHECK_MODE = False

    def describe(self, context: VerbContext) -> str:
        """Return what would be written."""
        args = context.arguments(Arguments)
        return f"would write {FILE} of {args.kind} {args.name}"

    def perform(self, context: VerbContext) -> VerbResult:
        """Read the service, its pods and their events as they are now."""
        args, cluster = context.arguments(Arguments), context.cluster()
        service = find_model_service(cluster, args)
        if service is None:
            return VerbResult(skipped=f"{args.kind} {args.name} does not exist, so nothing started")
        selector = answering_pods(args.kind, args.name)
        pods, _version = cluster.list(Query("v1", "Pod", args.namespace, label_selector=selector))
        events, _version = cluster.list(Query("v1", "Event", args.namespace))
        found = document(asdict(args.asked), ServiceObjects(service, pods, events, args.seen))
        if not args.seen:
            cell = (context.variables.get("perf_cell") or {}).get("index")
            seen, command = of_earlier_attempt(RunEnvironment.read().root, cell, found)
            found |= {"seen": seen, "seen_in": command}
        write_json(context.directory / "artifacts" / FILE, {**found, "lab": lab_parts(cluster, args)})
        return VerbResult(values={name: found[name] for name in ("steps", "seen")})
