# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError
from ansible_collections.psap.perf.plugins.module_utils.cluster.client import Manifest, Query
from ansible_collections.psap.perf.plugins.module_utils.openshift.operator_packages import choose_example
from ansible_collections.psap.perf.plugins.modules.openshift.operator_example import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.verb import PerfAction, VerbContext, VerbResult
from ansible_collections.psap.perf.plugins.plugin_utils.verb_documentation import argument_spec


class ActionModule(PerfAction):
    """Read an example of an operator."""

    ARGUMENTS = argument_spec(DOCUMENTATION)

    def perform(self, context: VerbContext) -> VerbResult:
        """Look into the ClusterServiceVersion."""
        args = context.args
        name, namespace = args["csv"], args["namespace"]
        cluster = context.cluster()
        query = Query("operators.coreos.com/v1alpha1", "ClusterServiceVersion", namespace=namespace, name=name)
        csv = cluster.get(query) if name else None
        if csv is None:
            if not context.check_mode:
                raise ClusterError(f"there is no {query}; is the operator installed there?")
            skipped = f"check mode: would read the example {args['which']} of an operator that is not there"
            return VerbResult(values={"definition": []}, skipped=skipped)
        return VerbResult(values={"definition": [_anywhere(choose_example(csv, args["which"]))]})


def _anywhere(example: Manifest) -> Manifest:
    """*example* without the namespace that its author had in mind."""
    metadata = {key: value for key, value in example["metadata"].items() if key != "namespace"}
    return {**example, "metadata": metadata}
