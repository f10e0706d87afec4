# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from ansible_collections.psap.perf.plugins.module_utils.base.documents import plain
from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError
from ansible_collections.psap.perf.plugins.module_utils.cluster.client import Cluster, Manifest, Query
from ansible_collections.psap.perf.plugins.module_utils.openshift.components import (
    available,
    chosen,
    schema_of,
    with_settings,
)
from ansible_collections.psap.perf.plugins.modules.openshift.choose_components import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.verb import PerfAction, VerbContext, VerbResult
from ansible_collections.psap.perf.plugins.plugin_utils.verb_documentation import argument_spec

_GROUP = "datasciencecluster.opendatahub.io"
_VERSION = f"{_GROUP}/v1"
_KIND = "DataScienceCluster"
_DEFINITION = Query("apiextensions.k8s.io/v1", "CustomResourceDefinition", name=f"datascienceclusters.{_GROUP}")


class ActionModule(PerfAction):
    """Update the components in the DataScienceCluster."""

    ARGUMENTS = argument_spec(DOCUMENTATION)

    def perform(self, context: VerbContext) -> VerbResult:
        """Read what there is, and put the wish over it."""
        args = plain(context.args)
        cluster = context.cluster()
        definition = cluster.get(_DEFINITION)
        if definition is None and not context.check_mode:
            raise ClusterError(
                "OpenShift AI is not installed: the cluster defines no DataScienceCluster; run rhods deploy_ods first"
            )
        schema = schema_of(definition)
        present = _present(cluster, args["name"])
        spec = (present or {}).get("spec", {})
        components = chosen(
            schema, spec.get("components") or {}, args["enable"], others_removed=args["others"] == "removed"
        )
        name = args["name"] or (present["metadata"]["name"] if present else "default-dsc")
        manifest: Manifest = {
            "apiVersion": _VERSION,
            "kind": _KIND,
            "metadata": {"name": name},
            "spec": {"components": components},
        }
        wanted = with_settings(manifest, args["extra_settings"], schema)
        return VerbResult(values={"available": available(schema), "definition": wanted})


def _present(cluster: Cluster, name: str) -> Manifest | None:
    if not cluster.serves(_VERSION, _KIND):
        return None
    found, _version = cluster.list(Query(_VERSION, _KIND, name=name or None))
    return found[0] if found else None
