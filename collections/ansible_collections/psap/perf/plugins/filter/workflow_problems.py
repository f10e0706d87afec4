# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
name: workflow_problems
short_description: List the failed steps of a workflow
version_added: 0.1.0
description:
  - Lists each step of a workflow of AWX that failed, or that passed on no result, such as a cancelled job.
author: The psap.perf developers (@openshift-psap)
options:
  _input:
    description: The results of P(psap.perf.result#module) in the steps C(prepare), C(test) and C(cleanup).
    type: dict
    required: true
"""

EXAMPLES = r"""
- name: Fail if a step failed
  ansible.builtin.assert:
    that: problems | length == 0
    fail_msg: "{{ problems | join('; ') }}"
  vars:
    problems: "{{ {'test': perf_result_test | default(none)} | psap.perf.workflow_problems }}"
"""

RETURN = r"""
_value:
  description: A sentence for each of these steps, in the order of time.
  type: list
  elements: str
"""

from collections.abc import Callable, Mapping
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.run.workflow import problems
from ansible_collections.psap.perf.plugins.plugin_utils.filters import INPUT, documented


class FilterModule:
    """List the failed steps of a workflow."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Return this file's filter."""
        return {"workflow_problems": documented(DOCUMENTATION, _compute)}


def _compute(args: Mapping[str, Any]) -> list[str]:
    return problems(args[INPUT])
