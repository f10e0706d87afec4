# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from dataclasses import dataclass

from ansible_collections.psap.perf.plugins.module_utils.base.clock import Seconds, seconds_text
from ansible_collections.psap.perf.plugins.module_utils.base.documents import dump_yaml, write_text
from ansible_collections.psap.perf.plugins.module_utils.kube_api import temporary
from ansible_collections.psap.perf.plugins.module_utils.kube_api.manifests import file_name
from ansible_collections.psap.perf.plugins.module_utils.openshift.projects import PREFIX, Trial, try_until
from ansible_collections.psap.perf.plugins.plugin_utils.verb import CommandAction, VerbContext, VerbResult


@dataclass(frozen=True, slots=True)
class Arguments:
    key: str
    value: str | None
    timeout: Seconds


class ActionModule(CommandAction):
    """Wait until new projects have the annotation of the template."""

    RUNS_IN_CHECK_MODE = False

    def describe(self, context: VerbContext) -> str:
        """Return what the verb would wait for."""
        args = context.arguments(Arguments)
        return f"would create projects for up to {seconds_text(args.timeout)} s until one has {args.key}={args.value!r}"

    def perform(self, context: VerbContext) -> VerbResult:
        """Create projects until one has the annotation, and delete them."""
        args = context.arguments(Arguments)
        labels = temporary.labels(context.run)
        example = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": PREFIX, "labels": labels}}
        write_text(context.directory / "src" / file_name(example), dump_yaml(example))
        trial = Trial(args.key, args.value, args.timeout, labels)
        trials = try_until(context.cluster(), trial, context.check_interrupted)
        return VerbResult(values={"trials": trials})
