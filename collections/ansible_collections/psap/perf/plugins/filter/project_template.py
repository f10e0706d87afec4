# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
name: project_template
short_description: Compute the project request template
version_added: 0.1.0
description:
  - Adds an annotation to the Project of the Template in OpenShift's configuration, or else of OpenShift's default
    Template, or removes it.
  - Fails if the configured Template is missing, or does not create exactly one Project.
author: The psap.perf developers (@openshift-psap)
positional: configuration
options:
  _input:
    description: The Templates of the namespace C(openshift-config).
    type: list
    elements: dict
    required: true
  configuration:
    description: The Project C(cluster) of C(config.openshift.io/v1); empty for none.
    type: dict
    required: true
  key:
    description: The annotation.
    type: str
    required: true
  value:
    description: Its value; if not given, the annotation is removed.
    type: str
"""

EXAMPLES = r"""
- name: Compute the template of new projects
  ansible.builtin.set_fact:
    template: "{{ templates.objects | psap.perf.project_template(configuration, key='team', value='psap') }}"
"""

RETURN = r"""
_value:
  description:
    - C(name), the Template's name; C(own), whether this collection creates it, and not the cluster's administrators;
      C(needed), whether it must exist, or OpenShift's default creates the same projects; C(definition), the resulting
      Template, empty if none is needed.
  type: dict
"""

from collections.abc import Callable, Mapping
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.openshift.projects import change_for
from ansible_collections.psap.perf.plugins.plugin_utils.filters import INPUT, documented


class FilterModule:
    """Compute the project request template."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Return this file's filter."""
        return {"project_template": documented(DOCUMENTATION, _compute)}


def _compute(args: Mapping[str, Any]) -> dict[str, Any]:
    spec = args["configuration"].get("spec") or {}
    configured = (spec.get("projectRequestTemplate") or {}).get("name")
    change = change_for(configured, args[INPUT], args["key"], args["value"])
    return {
        "name": change.name,
        "own": change.is_own,
        "needed": change.template is not None,
        "definition": change.template or {},
    }
