# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
name: operator_plan
short_description: Plan the installation of an operator by OLM
version_added: 0.1.0
description:
  - Fails if OLM would not install the requested version, because of the OperatorGroups of the namespace or because of
    the installed version.
author: The psap.perf developers (@openshift-psap)
options:
  _input:
    description: Result of P(psap.perf.operator_package#filter).
    type: dict
    required: true
  package:
    description: Name of the operator's package.
    type: str
    required: true
  namespace:
    description: Namespace of the operator.
    type: str
    required: true
  all_namespaces:
    description: Whether the operator watches all namespaces instead of only its namespace.
    type: bool
    required: true
  operator_groups:
    description: OperatorGroups of the namespace.
    type: list
    elements: dict
    default: []
  subscriptions:
    description: The Subscription of the operator, if it is installed.
    type: list
    elements: dict
    default: []
"""

EXAMPLES = r"""
- name: Plan the installation
  ansible.builtin.set_fact:
    plan: "{{ package | psap.perf.operator_plan(package='nfd', namespace='openshift-nfd', all_namespaces=false) }}"
"""

RETURN = r"""
_value:
  description:
    - C(channel) and C(csv) of the package; C(operator_group), the name of the OperatorGroup to create, empty if the
      namespace has a suitable one of another creator.
  type: dict
  sample: {channel: stable, csv: nfd.4.19.0, operator_group: nfd-operator-group}
"""

from collections.abc import Callable, Mapping
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.openshift.operator_subscriptions import (
    SubscriptionRequest,
    check_upgrade,
    foreign_group_of,
    own_group_name,
)
from ansible_collections.psap.perf.plugins.plugin_utils.filters import INPUT, documented


class FilterModule:
    """Plan the installation of an operator."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Return this file's filter."""
        return {"operator_plan": documented(DOCUMENTATION, _compute)}


def _compute(args: Mapping[str, Any]) -> dict[str, str]:
    chosen = args[INPUT]
    request = SubscriptionRequest(
        args["package"], chosen["csv"], chosen["newest"], args["namespace"], args["all_namespaces"]
    )
    group = "" if foreign_group_of(request, args["operator_groups"]) else own_group_name(request.package)
    check_upgrade(request, next(iter(args["subscriptions"]), None))
    return {"channel": chosen["channel"], "csv": request.csv, "operator_group": group}
