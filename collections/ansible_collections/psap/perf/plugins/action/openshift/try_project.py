# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from ansible_collections.psap.perf.plugins.module_utils.base.clock import seconds
from ansible_collections.psap.perf.plugins.module_utils.base.documents import dump_yaml, write_text
from ansible_collections.psap.perf.plugins.module_utils.cluster import temporary
from ansible_collections.psap.perf.plugins.module_utils.cluster.manifests import file_name
from ansible_collections.psap.perf.plugins.module_utils.openshift.projects import PREFIX, Trial, try_until
from ansible_collections.psap.perf.plugins.modules.openshift.try_project import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.verb import PerfAction, VerbContext, VerbResult
from ansible_collections.psap.perf.plugins.plugin_utils.verb_documentation import argument_spec


class ActionModule(PerfAction):
    """Make projects for a trial."""

    ARGUMENTS = argument_spec(DOCUMENTATION)
    RUNS_IN_CHECK_MODE = False

    def describe(self, context: VerbContext) -> str:
        """Say what would be tried."""
        args = context.args
        return f"would make projects for up to {args['timeout']} until {args['key']} is {args['value']!r} in one"

    def perform(self, context: VerbContext) -> VerbResult:
        """Try until a project is as it should be; what was tried is gone, so nothing changed."""
        args = context.args
        labels = temporary.labels(context.run)
        kept = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": PREFIX, "labels": labels}}
        write_text(context.directory / "src" / file_name(kept), dump_yaml(kept))
        trial = Trial(args["key"], args["value"], seconds(args["timeout"]), labels)
        trials = try_until(context.cluster(), trial, context.check_interrupted)
        return VerbResult(values={"trials": trials})
