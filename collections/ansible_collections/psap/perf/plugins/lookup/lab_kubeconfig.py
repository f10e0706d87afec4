# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
name: lab_kubeconfig
short_description: Path of a lab's kubeconfig
version_added: 0.1.0
description:
  - The kubeconfig that C(perflab up) writes for a lab of this machine, whether or not it is running.
  - Labs are kept below E(PERFLAB_HOME), else below C(perflab) of E(XDG_STATE_HOME), else below
    C(~/.local/state/perflab).
author: The psap.perf developers (@openshift-psap)
options:
  _terms:
    description: Names of labs; by default the one in E(PERF_LAB), or C(default).
    type: list
    elements: str
"""

EXAMPLES = r"""
perf_kubeconfig: "{{ lookup('psap.perf.lab_kubeconfig') }}"
"""

RETURN = r"""
_raw:
  description: The paths.
  type: list
  elements: path
"""

import os
from collections.abc import Mapping
from typing import Any

from ansible.plugins.lookup import LookupBase
from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.lab import lab_kubeconfig


class LookupModule(LookupBase):  # type: ignore[misc]  # ansible-core has no types
    """Looks up the paths of labs' kubeconfigs."""

    def run(self, terms: list[str], variables: Mapping[str, Any] | None = None, **_options: Any) -> list[str]:  # noqa: ARG002
        """Return one path for each name."""
        return [str(lab_kubeconfig(name)) for name in terms or [os.environ.get("PERF_LAB") or "default"]]
