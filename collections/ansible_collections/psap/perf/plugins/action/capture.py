# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from ansible_collections.psap.perf.plugins.module_utils.base.errors import PerfError
from ansible_collections.psap.perf.plugins.module_utils.cluster.capturing import (
    Capture,
    capture_cluster,
    capture_events,
    capture_logs,
    capture_objects,
    capture_project,
    capture_whole_logs,
)
from ansible_collections.psap.perf.plugins.module_utils.cluster.client import Cluster
from ansible_collections.psap.perf.plugins.module_utils.run.environment import RunEnvironment
from ansible_collections.psap.perf.plugins.modules.capture import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.verb import PerfAction, VerbContext, VerbResult
from ansible_collections.psap.perf.plugins.plugin_utils.verb_documentation import argument_spec


class ActionModule(PerfAction):
    """Capture objects, events and logs."""

    ARGUMENTS = argument_spec(DOCUMENTATION)

    def perform(self, context: VerbContext) -> VerbResult:
        """Keep what can be had."""
        capture = Capture(context.directory / "artifacts")
        if "project" in context.args["about"]:
            capture_project(capture, RunEnvironment.read().project)
        try:
            cluster = context.cluster()
        except PerfError as error:
            capture.missing.append(str(error))
        else:
            _capture(capture, cluster, context)
        capture.finish()
        return VerbResult(
            values={"files": capture.files, "not_captured": capture.missing}, warnings=tuple(capture.missing)
        )


def _capture(capture: Capture, cluster: Cluster, context: VerbContext) -> None:
    if "cluster" in context.args["about"]:
        capture_cluster(capture, cluster)
    here = context.args["namespace"]
    for wanted in context.args["objects"]:
        capture_objects(capture, cluster, {**wanted, "namespace": wanted["namespace"] or here})
    for namespace in dict.fromkeys([*([here] if here else []), *context.args["events"]]):
        capture_events(capture, cluster, namespace)
    for wanted in context.args["logs"]:
        chosen = (capture, cluster, wanted["namespace"] or here, wanted["label_selector"])
        if wanted["whole"]:
            capture_whole_logs(*chosen, init=wanted["init"])
        else:
            capture_logs(*chosen, wanted["tail"])
