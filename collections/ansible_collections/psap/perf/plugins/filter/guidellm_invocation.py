# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
name: guidellm_invocation
short_description: Compute a Job's invocation of guidellm
version_added: 0.1.0
description:
  - Returns the arguments of the program, by its version, and refuses arguments of the command that contradict each
    other.
author: The psap.perf developers (@openshift-psap)
positional: rates
options:
  _input:
    description:
      - The arguments of the role P(psap.perf.llm_d_run_guidellm_benchmark#role), by their names without the role's.
    type: dict
    required: true
  rates:
    description: The rates of this run of the program.
    type: list
    elements: float
    default: []
  output:
    description: The file for its results.
    type: str
    required: true
  data_folder:
    description: The folder with the file of the data set.
    type: str
    required: true
"""

EXAMPLES = r"""
- name: Compute the Job's invocation of guidellm
  ansible.builtin.set_fact:
    invoked: "{{ arguments
      | psap.perf.guidellm_invocation([8], output='/results/benchmarks.json', data_folder='/data') }}"
"""

RETURN = r"""
_value:
  description:
    - C(arguments) of the program; C(key_variable) and C(key_value), its environment variable with the API's key;
      C(deadline_s), the maximum lifetime of the Job in seconds; C(load) in words, empty for several loads.
  type: dict
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.arguments import convert
from ansible_collections.psap.perf.plugins.module_utils.serving.guidellm import (
    Guidellm,
    invocation,
    rates_in_words,
)
from ansible_collections.psap.perf.plugins.plugin_utils.filters import INPUT, documented


class FilterModule:
    """Compute a Job's invocation of guidellm."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Return this file's filter."""
        return {"guidellm_invocation": documented(DOCUMENTATION, _compute)}


def _compute(args: Mapping[str, Any]) -> dict[str, Any]:
    load = convert(args[INPUT], Guidellm)
    invoked = invocation(load, args["rates"], args["output"], args["data_folder"])
    return {**asdict(invoked), "load": rates_in_words(load.rate_type, args["rates"])}
