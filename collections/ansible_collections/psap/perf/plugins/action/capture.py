# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from dataclasses import dataclass, replace

from ansible_collections.psap.perf.plugins.module_utils.base.errors import PerfError, UsageError
from ansible_collections.psap.perf.plugins.module_utils.kube_api.capturing import (
    Capture,
    CapturedObjects,
    CapturedProgram,
    capture_cluster,
    capture_events,
    capture_logs,
    capture_objects,
    capture_program,
    capture_project,
    capture_whole_logs,
)
from ansible_collections.psap.perf.plugins.module_utils.kube_api.client import Cluster
from ansible_collections.psap.perf.plugins.module_utils.run.environment import RunEnvironment
from ansible_collections.psap.perf.plugins.modules.capture import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.argument_specs import argument_spec
from ansible_collections.psap.perf.plugins.plugin_utils.verb import PerfAction, VerbContext, VerbResult


@dataclass(frozen=True, slots=True)
class Logs:
    namespace: str | None
    label_selector: str | None
    tail: int
    whole: bool
    init: bool


@dataclass(frozen=True, slots=True)
class Arguments:
    namespace: str | None
    objects: tuple[CapturedObjects, ...]
    about: tuple[str, ...]
    events: tuple[str, ...]
    logs: tuple[Logs, ...]
    programs: tuple[CapturedProgram, ...]


class ActionModule(PerfAction):
    """Capture objects, events and logs."""

    ARGUMENTS = argument_spec(DOCUMENTATION)

    def perform(self, context: VerbContext) -> VerbResult:
        """Write the captured state, and list missing parts."""
        args = context.arguments(Arguments)
        capture = Capture(context.directory / "artifacts")
        if "project" in args.about:
            capture_project(capture, RunEnvironment.read().project)
        try:
            cluster = context.cluster()
        except PerfError as error:
            capture.missing.append(str(error))
        else:
            _capture(capture, cluster, args)
            for program in args.programs:
                place = _place(program.namespace or args.namespace, "programs")
                capture_program(capture, cluster, place, program, context.check_interrupted)
        capture.finish()
        return VerbResult(
            values={"files": capture.files, "not_captured": capture.missing}, warnings=tuple(capture.missing)
        )


def _capture(capture: Capture, cluster: Cluster, args: Arguments) -> None:
    if "cluster" in args.about:
        capture_cluster(capture, cluster)
    here = args.namespace
    for wanted in args.objects:
        capture_objects(capture, cluster, replace(wanted, namespace=wanted.namespace or here))
    for namespace in dict.fromkeys([*([here] if here else []), *args.events]):
        capture_events(capture, cluster, namespace)
    for logs in args.logs:
        place = _place(logs.namespace or here, "logs")
        if logs.whole:
            capture_whole_logs(capture, cluster, place, logs.label_selector, init=logs.init)
        else:
            capture_logs(capture, cluster, place, logs.label_selector, logs.tail)


def _place(namespace: str | None, what: str) -> str:
    if not namespace:
        raise UsageError(f"capture accepts {what} only with a namespace")
    return namespace
