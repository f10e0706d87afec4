# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
name: choose_components
short_description: Choose the components of a DataScienceCluster
version_added: 0.1.0
description:
  - Reads the components of this version from the CustomResourceDefinition, and refuses others.
  - The DataScienceCluster has the newest API version that the cluster serves. OpenShift AI 3 converts one of v1 to v2
    with the components that only v2 has removed.
  - An enabled component is V(Managed), and Kueue V(Unmanaged) where v2 is served; OpenShift AI 3 refuses V(Managed).
author: The psap.perf developers (@openshift-psap)
positional: present
options:
  _input:
    description:
      - The CustomResourceDefinition of DataScienceClusters; empty if OpenShift AI is not installed, and then nothing is
        refused.
    type: dict
    required: true
  present:
    description: The present DataScienceCluster; empty for none.
    type: dict
    default: {}
  name:
    description: Name of the DataScienceCluster; empty for the name of O(present), or else V(default-dsc).
    type: str
    default: ""
  enable:
    description: The components to enable.
    type: list
    elements: str
    default: []
  others:
    description: Whether other components are removed or kept.
    type: str
    choices: [removed, unchanged]
    default: removed
  extra_settings:
    description:
      - Values by dotted paths, such as V(spec.components.kserve.serving.managementState), applied last. V(Removed) for
        a component that this version does not have is left out.
    type: dict
    default: {}
"""

EXAMPLES = r"""
- name: Choose the components
  ansible.builtin.set_fact:
    chosen: "{{ definitions.objects | first | psap.perf.choose_components(enable=['dashboard', 'trainingoperator']) }}"
"""

RETURN = r"""
_value:
  description:
    - C(available), the names of the components that this version has, and C(definition), the resulting
      DataScienceCluster.
  type: dict
"""

from collections.abc import Callable, Mapping
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.kube_api.manifests import Manifest
from ansible_collections.psap.perf.plugins.module_utils.openshift.components import (
    available,
    chosen,
    schema_of,
    with_settings,
    written_version,
)
from ansible_collections.psap.perf.plugins.plugin_utils.filters import INPUT, documented


class FilterModule:
    """Choose the components of a DataScienceCluster."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Return this file's filter."""
        return {"choose_components": documented(DOCUMENTATION, _compute)}


def _compute(args: Mapping[str, Any]) -> dict[str, Any]:
    definition, present = args[INPUT], args["present"]
    api_version = written_version(definition)
    schema = schema_of(definition, api_version)
    components = (present.get("spec") or {}).get("components") or {}
    manifest: Manifest = {
        "apiVersion": api_version,
        "kind": "DataScienceCluster",
        "metadata": {"name": args["name"] or (present["metadata"]["name"] if present else "default-dsc")},
        "spec": {
            "components": chosen(definition, components, args["enable"], others_removed=args["others"] == "removed"),
        },
    }
    return {"available": available(schema), "definition": with_settings(manifest, args["extra_settings"], schema)}
