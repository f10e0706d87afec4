# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
name: operator_package
short_description: Choose an operator's channel and version from its PackageManifest
version_added: 0.1.0
description:
  - If the catalog does not have them, the error lists those that it has.
author: The psap.perf developers (@openshift-psap)
options:
  _input:
    description: The PackageManifest.
    type: dict
    required: true
  channel:
    description: Channel; empty for the package's default, V(?) for an error that lists all.
    type: str
    default: ""
  version:
    description: Version; empty for the newest of the channel.
    type: str
    default: ""
  csv_base_name:
    description: Prefix of the versions' names, if it is not the package's name.
    type: str
    default: ""
  install_mode:
    description: Install mode of the operator, which it must support.
    type: str
    choices: [OwnNamespace, SingleNamespace, MultiNamespace, AllNamespaces]
    required: true
"""

EXAMPLES = r"""
- name: Choose the version
  ansible.builtin.set_fact:
    package: "{{ manifests.objects | first | psap.perf.operator_package(install_mode='OwnNamespace') }}"
"""

RETURN = r"""
_value:
  description:
    - C(channel); C(csv), the name of the ClusterServiceVersion; its C(version), empty if the catalog has none;
      C(newest), the name of the newest ClusterServiceVersion of the channel, to which OLM upgrades.
  type: dict
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.openshift.operator_packages import (
    PackageRequest,
    choose,
    unsupported_mode,
)
from ansible_collections.psap.perf.plugins.plugin_utils.filters import INPUT, documented


class FilterModule:
    """Choose channel and version of a Subscription."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Return this file's filter."""
        return {"operator_package": documented(DOCUMENTATION, _compute)}


def _compute(args: Mapping[str, Any]) -> dict[str, str]:
    package = args[INPUT]
    choice = choose(package, PackageRequest(args["channel"], args["version"], args["csv_base_name"]))
    refused = unsupported_mode(package, choice.channel, args["install_mode"])
    if refused:
        raise UsageError(refused)
    return {**asdict(choice), "newest": choose(package, PackageRequest(choice.channel)).csv}
