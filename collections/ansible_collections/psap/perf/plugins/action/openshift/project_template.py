# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from ansible_collections.psap.perf.plugins.module_utils.base.documents import dump_yaml, write_text
from ansible_collections.psap.perf.plugins.module_utils.cluster.client import Query
from ansible_collections.psap.perf.plugins.module_utils.cluster.manifests import readable
from ansible_collections.psap.perf.plugins.module_utils.openshift.projects import NAMESPACE, Change, change_for
from ansible_collections.psap.perf.plugins.modules.openshift.project_template import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.verb import PerfAction, VerbContext, VerbResult
from ansible_collections.psap.perf.plugins.plugin_utils.verb_documentation import argument_spec

_CONFIGURATION = Query("config.openshift.io/v1", "Project", name="cluster")
_TEMPLATES = Query("template.openshift.io/v1", "Template", namespace=NAMESPACE)


class ActionModule(PerfAction):
    """Compute the project request template."""

    ARGUMENTS = argument_spec(DOCUMENTATION)

    def perform(self, context: VerbContext) -> VerbResult:
        """Read what there is, and put the wish into it."""
        cluster = context.cluster()
        spec = (cluster.get(_CONFIGURATION) or {}).get("spec") or {}
        configured = (spec.get("projectRequestTemplate") or {}).get("name")
        templates = cluster.list(_TEMPLATES)[0]
        change = change_for(configured, templates, str(context.args["key"]), context.args["value"])
        for template in templates:
            if template["metadata"]["name"] == change.name:
                write_text(context.directory / "artifacts" / "base_project_template.yml", dump_yaml(readable(template)))
        return VerbResult(values=_values(change))


def _values(change: Change) -> dict[str, object]:
    template = change.template
    return {
        "needed": template is not None,
        "own": change.is_own,
        "name": change.name,
        "definition": readable(template) if template is not None else {},
    }
