# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from ansible_collections.psap.perf.plugins.module_utils.base.clock import Seconds
from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError, PerfError
from ansible_collections.psap.perf.plugins.module_utils.kube_api.client import Cluster
from ansible_collections.psap.perf.plugins.module_utils.kube_api.manifests import Manifest
from ansible_collections.psap.perf.plugins.module_utils.kube_api.pod_exec import Executed, run_in_pod
from ansible_collections.psap.perf.plugins.module_utils.kube_api.query import Query
from ansible_collections.psap.perf.plugins.module_utils.pipelines.notebook import (
    execute,
    fetch_results,
    read_runs,
    requested_runs,
    within,
)
from ansible_collections.psap.perf.plugins.module_utils.pipelines.submitting import RUNS_FILE
from ansible_collections.psap.perf.plugins.modules.pipelines.run_notebook import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.argument_specs import argument_spec
from ansible_collections.psap.perf.plugins.plugin_utils.pipelines import RunArguments, write_runs
from ansible_collections.psap.perf.plugins.plugin_utils.verb import CommandAction, VerbContext, VerbResult
from ansible_collections.psap.perf.plugins.plugin_utils.waiting_file import shown_wait

_FOLDER = "notebook"
_OUTPUT = "output.txt"


@dataclass(frozen=True, slots=True)
class Arguments(RunArguments):
    notebook_name: str
    notebook_filename: str
    notebook_timeout: Seconds
    program: str


class ActionModule(CommandAction):
    """Run a notebook that creates runs of a pipeline."""

    ARGUMENTS = argument_spec(DOCUMENTATION)
    RUNS_IN_CHECK_MODE = False

    def describe(self, context: VerbContext) -> str:
        """Return the name of the notebook."""
        return f"would run {context.arguments(Arguments).notebook_filename}"

    def perform(self, context: VerbContext) -> VerbResult:
        """Run it in its pod, and read its results."""
        args, cluster = context.arguments(Arguments), context.cluster()
        folder = context.directory / "artifacts" / _FOLDER
        folder.mkdir(exist_ok=True)
        pod = _pod(cluster, args)
        what = f"notebook {args.notebook_filename} in pod {args.namespace}/{pod['metadata']['name']}"
        check = within(args.notebook_timeout, what, context.check_interrupted)
        try:
            with shown_wait(context.directory, f"{what} has ended", args.notebook_timeout):
                _run_in_pod(cluster, args, pod, folder, check)
        except PerfError as error:
            runs = read_runs(folder / RUNS_FILE)
            write_runs(context, args, requested_runs(args.runs, runs, str(error)), {})
            raise
        return VerbResult(True, {"submitted": read_runs(folder / RUNS_FILE)})


def _pod(cluster: Cluster, args: Arguments) -> Manifest:
    query = Query("v1", "Pod", args.namespace, label_selector=f"notebook-name={args.notebook_name}")
    pods = [pod for pod in cluster.list(query)[0] if not pod["metadata"].get("deletionTimestamp")]
    if not pods:
        raise ClusterError(f"no {query}: the notebook has no pod")
    return pods[0]


def _run_in_pod(cluster: Cluster, args: Arguments, pod: Manifest, folder: Path, check: Callable[[], None]) -> None:
    where = (args.namespace, str(pod["metadata"]["name"]), args.notebook_name)

    def run(argv: Sequence[str], output: BinaryIO) -> Executed:
        return run_in_pod(cluster.access, where, argv, output, check)

    try:
        execute(run, args.program, args.notebook_filename, folder / _OUTPUT)
    finally:
        with contextlib.suppress(ClusterError):
            fetch_results(run, args.program, folder)
