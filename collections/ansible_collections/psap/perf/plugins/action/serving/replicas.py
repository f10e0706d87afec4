# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.clock import Seconds
from ansible_collections.psap.perf.plugins.module_utils.base.documents import write_json
from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError, DataQualityError
from ansible_collections.psap.perf.plugins.module_utils.kube_api.client import Cluster
from ansible_collections.psap.perf.plugins.module_utils.kube_api.known_kinds import api_version_of
from ansible_collections.psap.perf.plugins.module_utils.kube_api.query import Query
from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.access import Access
from ansible_collections.psap.perf.plugins.module_utils.profiling.background import detach
from ansible_collections.psap.perf.plugins.module_utils.run.command_directory import open_cell
from ansible_collections.psap.perf.plugins.module_utils.run.environment import RunEnvironment
from ansible_collections.psap.perf.plugins.module_utils.run.judging import loads_over_time
from ansible_collections.psap.perf.plugins.module_utils.serving.load_search import completed_loads
from ansible_collections.psap.perf.plugins.module_utils.serving.replicas import (
    ROLLOUT,
    SAMPLES_FILE,
    STOP_FILE,
    Sample,
    is_settled,
    phases,
    revisions,
    rolled_out_at,
    sample_of,
    scale_moments,
)
from ansible_collections.psap.perf.plugins.module_utils.settings.matrix import Cell
from ansible_collections.psap.perf.plugins.module_utils.waiting.model_pods import answering_pods
from ansible_collections.psap.perf.plugins.module_utils.waiting.polling import poll_until
from ansible_collections.psap.perf.plugins.modules.serving.replicas import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.argument_specs import argument_spec
from ansible_collections.psap.perf.plugins.plugin_utils.serving.models import (
    ModelArguments,
    lab_parts,
    model_service,
)
from ansible_collections.psap.perf.plugins.plugin_utils.verb import PerfAction, VerbContext, VerbResult
from ansible_collections.psap.perf.plugins.plugin_utils.waiting_file import shown_wait

_INTERVAL_S = 0.5
_END_S = 60.0
_PROCESS = "perf-replicas"
# the output of a load generator; the cell has no other program
_PROGRAM_LOGS = "*__run*/artifacts/run.log"
_LOAD_LABEL = "psap.perf/load"


@dataclass(frozen=True, slots=True)
class Arguments(ModelArguments):
    cell: Cell
    state: str
    mode: str
    change: Mapping[str, Any]
    change_after: Seconds
    timeout: Seconds
    settle: Seconds
    model: str


class ActionModule(PerfAction):
    """Record the replicas of a model."""

    ARGUMENTS = argument_spec(DOCUMENTATION)
    RUNS_IN_CHECK_MODE = False

    def describe(self, context: VerbContext) -> str:
        """Return the model."""
        args = context.arguments(Arguments)
        return f"would record the replicas of {args.kind} {args.name}"

    def perform(self, context: VerbContext) -> VerbResult:
        """Begin the recording in the background, end it and write the document, or only stop it."""
        args = context.arguments(Arguments)
        folder = open_cell(RunEnvironment.read(), args.cell.index)
        if args.state == "begun":
            _begin(context, args, folder)
            return VerbResult(values={"samples": 0})
        if args.state == "stopped":
            if (folder / SAMPLES_FILE).exists():
                (folder / STOP_FILE).touch()
            return VerbResult(values={"samples": 0})
        return VerbResult(changed=True, values={"samples": _end(context, args, folder)})


def _begin(context: VerbContext, args: Arguments, folder: Path) -> None:
    cluster = context.cluster()
    old = revisions(_pods(cluster, args))
    _sample(cluster, args, old)
    if args.change:
        cluster.merge(_service(args), dict(args.change), dry_run=True)
    for name in (SAMPLES_FILE, STOP_FILE):
        (folder / name).unlink(missing_ok=True)
    access, ansible = Access.from_variables(context.variables), os.getppid()
    detach(lambda: _Recorder(context.other_cluster(access), args, folder, old, ansible).run(), _PROCESS)


@dataclass(frozen=True, slots=True)
class _Recorder:
    """Records samples until the file to stop exists, Ansible has ended, or the time is over."""

    cluster: Cluster
    args: Arguments
    folder: Path
    old: frozenset[str]
    ansible: int

    def run(self) -> None:
        """Record until the end; the last line has the reason if that was an error."""
        begin, loaded = time.monotonic(), None
        changed = not self.args.change
        with (self.folder / SAMPLES_FILE).open("a", encoding="utf-8") as stream:

            def write(line: Mapping[str, Any]) -> None:
                stream.write(f"{json.dumps(line)}\n")
                stream.flush()

            try:
                while self._goes_on(begin):
                    if not changed and loaded is None and self._load_began():
                        loaded = time.monotonic()
                    if loaded is not None and not changed and time.monotonic() - loaded >= self.args.change_after:
                        changed = True
                        at_s = time.time()
                        self.cluster.merge(_service(self.args), dict(self.args.change))
                        write({"change_s": at_s})
                    write(asdict(_sample(self.cluster, self.args, self.old)))
                    time.sleep(_INTERVAL_S)
                write({"ended": True})
            except Exception as error:
                write({"error": f"{error or type(error).__name__}"})

    def _load_began(self) -> bool:
        """Return whether a load generator has started, as a program of this machine or in the pod of a Job."""
        if any(self.folder.glob(_PROGRAM_LOGS)):
            return True
        pods, _version = self.cluster.list(Query("v1", "Pod", self.args.namespace, label_selector=_LOAD_LABEL))
        statuses = (each for pod in pods for each in pod["status"].get("initContainerStatuses") or ())
        return any(not each.get("state", {}).get("waiting") for each in statuses)

    def _goes_on(self, begin: float) -> bool:
        alive = Path(f"/proc/{self.ansible}").exists()
        in_time = time.monotonic() - begin < self.args.timeout
        return alive and in_time and not (self.folder / STOP_FILE).exists()


def _end(context: VerbContext, args: Arguments, folder: Path) -> int:
    """Wait until the replicas have settled, end the recording, and write the document; return the number of samples."""
    path = folder / SAMPLES_FILE
    if args.settle:

        def settled() -> tuple[bool, str]:
            found = _read(path)
            state = found.samples[-1]
            over = time.monotonic() - since >= args.settle
            return over or is_settled(found.samples, args.mode, found.change_s), f"{state.ready} of {state.wanted}"

        since = time.monotonic()
        with shown_wait(context.command_directory(), "the replicas to settle", args.settle) as show:
            poll_until(
                settled, "the replicas did not settle", args.settle + _END_S, context.check_interrupted, show,
                longest_pause_s=2.0,
            )  # fmt: skip
    (folder / STOP_FILE).touch()
    poll_until(
        lambda: (_read(path).ended, "still recording"),
        "the recording of the replicas did not end",
        _END_S,
        context.check_interrupted,
        lambda _state: None,
    )
    found = _read(path)
    write_json(folder / f"{args.mode}.json", _document(context, args, found))
    for name in (SAMPLES_FILE, STOP_FILE):
        (folder / name).unlink()
    return len(found.samples)


def _document(context: VerbContext, args: Arguments, found: _Recorded) -> dict[str, Any]:
    environment = RunEnvironment.read()
    if args.mode == ROLLOUT and found.change_s is None:
        raise DataQualityError(
            f"the load ended before the change, {args.change_after:g} s after its generator started; set an earlier "
            "change or a longer load"
        )
    # loads of an earlier attempt at the cell ended before the recording
    commands = [
        path
        for path in completed_loads(environment.root, args.cell.index)
        if path.stat().st_mtime >= found.samples[0].at_s
    ]
    loads = loads_over_time(commands, phases(found.samples, args.mode, found.change_s))
    last = max(loads["loads"], key=lambda load: float(load["begin_s"]))
    if found.change_s is not None and found.change_s <= last["begin_s"]:
        early = last["begin_s"] - found.change_s
        raise DataQualityError(
            f"the model was changed {early:.0f} s before the first request, because the load generator started slowly; "
            f"set a change later than {args.change_after:g} s"
        )
    moments: dict[str, Any] = {"change_s": found.change_s}
    if args.mode == ROLLOUT:
        moments["done_s"] = rolled_out_at(found.samples, found.change_s or 0.0)
    else:
        moments |= {"step_s": last["begin_s"], **asdict(scale_moments(found.samples, last["begin_s"], last["end_s"]))}
    return {
        "schema": "psap.perf/replicas/1",
        "mode": args.mode,
        "service": args.name,
        "model": args.model,
        "change": args.change,
        "moments": moments,
        "samples": [asdict(sample) for sample in found.samples],
        **loads,
        "lab": lab_parts(context.cluster(), args),
    }


@dataclass(frozen=True, slots=True)
class _Recorded:
    samples: tuple[Sample, ...]
    change_s: float | None
    ended: bool


def _read(path: Path) -> _Recorded:
    """Return the recording.

    Raises:
        DataQualityError: If it is empty, or ended with an error.
    """
    try:
        # a line that is being written has no end yet
        lines = [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n")[:-1]]
    except OSError as error:
        raise DataQualityError(f"the recording of the replicas is missing: {error}") from error
    errors = [line["error"] for line in lines if "error" in line]
    samples = tuple(Sample(**line) for line in lines if "at_s" in line)
    if errors or not samples:
        raise DataQualityError(f"the replicas could not be recorded: {errors[0] if errors else 'there is no sample'}")
    change = next((line["change_s"] for line in lines if "change_s" in line), None)
    return _Recorded(samples, change, any("ended" in line for line in lines))


def _service(args: Arguments) -> Query:
    return Query(api_version_of(args.kind), args.kind, args.namespace, args.name)


def _pods(cluster: Cluster, args: Arguments) -> list[Any]:
    selector = answering_pods(args.kind, args.name)
    return cluster.list(Query("v1", "Pod", args.namespace, label_selector=selector))[0]


def _sample(cluster: Cluster, args: Arguments, old: frozenset[str]) -> Sample:
    """Return the present replicas.

    Raises:
        ClusterError: If the model has no Deployment.
    """
    name = f"{args.name}-predictor"
    deployment = cluster.get(Query("apps/v1", "Deployment", args.namespace, name))
    if deployment is None:
        model_service(cluster, args)
        raise ClusterError(f"there is no Deployment {args.namespace}/{name}; deploy the model with raw_deployment")
    return sample_of(time.time(), deployment, _pods(cluster, args), old)
