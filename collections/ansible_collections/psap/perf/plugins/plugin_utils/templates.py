"""Render templates of a role with the host's variables and further variables of a verb."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ansible.template import trust_as_template
from ansible_collections.psap.perf.plugins.module_utils.kube_api.client import Cluster
from ansible_collections.psap.perf.plugins.module_utils.kube_api.manifests import Manifest, parse_manifests
from ansible_collections.psap.perf.plugins.module_utils.kube_api.query import Query
from ansible_collections.psap.perf.plugins.module_utils.openshift.projects import assigned
from ansible_collections.psap.perf.plugins.plugin_utils.verb import PerfAction, VerbContext


def rendered_manifests(
    action: PerfAction, context: VerbContext, template: str, added: Mapping[str, Any]
) -> list[Manifest]:
    """Return the manifests of *template*.

    Args:
        action: The action plugin whose role has the template.
        added: Further variables.

    Raises:
        UsageError: If it renders to no manifests.
    """
    path = Path(action._find_needle("templates", template))
    # of the task's role, then of the roles that include it
    others = [f"{place}/templates" for place in context.variables.get("ansible_search_path") or ()]
    searched = [str(path.parent), *others]
    surroundings = {**action._templar.available_variables, **added}
    templar = action._templar.copy_with_new_env(searchpath=searched, available_variables=surroundings)
    rendered = templar.template(trust_as_template(path.read_text(encoding="utf-8")))
    # a template that renders to nothing is None
    return parse_manifests(str(rendered or ""), path.name)


def cluster_facts(cluster: Cluster, namespace: str | None) -> dict[str, bool]:
    """Return the facts about the cluster that templates see."""
    openshift = cluster.is_openshift()
    if not openshift or namespace is None:
        return {"openshift": openshift, "assigns_user_ids": openshift}
    present = cluster.get(Query("v1", "Namespace", name=namespace))
    return {"openshift": True, "assigns_user_ids": assigned(namespace, present)}
