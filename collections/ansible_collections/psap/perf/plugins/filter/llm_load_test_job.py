# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
name: llm_load_test_job
short_description: Compute a Job's invocation of llm-load-test
version_added: 0.1.0
description:
  - Returns the configuration of the program and the limits of its Job.
author: The psap.perf developers (@openshift-psap)
positional: output_folder
options:
  _input:
    description:
      - The arguments of the role P(psap.perf.llm_load_test_run#role), by their names without the role's.
    type: dict
    required: true
  output_folder:
    description: The folder in the pod for the results.
    type: str
    required: true
"""

EXAMPLES = r"""
- name: Compute the Job's invocation of llm-load-test
  ansible.builtin.set_fact:
    invoked: "{{ arguments | psap.perf.llm_load_test_job('/results') }}"
"""

RETURN = r"""
_value:
  description:
    - The C(configuration) of the program as JSON, which is YAML, too; C(timeout_s), the maximum seconds until the load
      has ended; C(deadline_s), the maximum lifetime of the Job in seconds.
  type: dict
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.arguments import convert
from ansible_collections.psap.perf.plugins.module_utils.serving.llm_load_test import LlmLoadTest, job_invocation
from ansible_collections.psap.perf.plugins.plugin_utils.filters import INPUT, documented


class FilterModule:
    """Compute a Job's invocation of llm-load-test."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Return this file's filter."""
        return {"llm_load_test_job": documented(DOCUMENTATION, _compute)}


def _compute(args: Mapping[str, Any]) -> dict[str, Any]:
    load = convert(args[INPUT], LlmLoadTest)
    return asdict(job_invocation(load, args["output_folder"], args[INPUT]["start_timeout"]))
