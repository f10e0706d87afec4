"""The runs of pipelines of one command, and their document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ansible_collections.psap.perf.plugins.module_utils.base.documents import write_json
from ansible_collections.psap.perf.plugins.module_utils.kube_api.manifests import Manifest
from ansible_collections.psap.perf.plugins.module_utils.pipelines.document import FILE, PipelineRun, PipelinesResult
from ansible_collections.psap.perf.plugins.module_utils.pipelines.runs import Requested, pipeline_runs, states
from ansible_collections.psap.perf.plugins.plugin_utils.verb import VerbContext


@dataclass(frozen=True, slots=True)
class RunArguments:
    """Arguments that identify runs of pipelines."""

    namespace: str
    user: int
    first_run_number: int
    runs: tuple[str, ...]


def write_runs(
    context: VerbContext, args: RunArguments, requested: Sequence[Requested], workflows: Mapping[str, Manifest]
) -> tuple[PipelineRun, ...]:
    """Write ``pipelines.json`` of the command, and return the runs in it."""
    runs, lab = pipeline_runs(requested, workflows, args.user, args.namespace, args.first_run_number), context.lab()
    result = PipelinesResult(runs, states(runs), lab.document() if lab else None)
    write_json(context.directory / FILE, result.document())
    return runs
