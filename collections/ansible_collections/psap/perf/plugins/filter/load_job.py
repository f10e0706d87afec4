# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
name: load_job
short_description: Compute a Job's invocation of a load generator
version_added: 0.1.0
description:
  - Returns the command, the files and the limits of the Job, and refuses a load that the generator cannot create.
author: The psap.perf developers (@openshift-psap)
options:
  _input:
    description:
      - The arguments of the role P(psap.perf.serving_run_load#role), by their names without the role's.
    type: dict
    required: true
"""

EXAMPLES = r"""
- name: Compute the Job's invocation of the load generator
  ansible.builtin.set_fact:
    invoked: "{{ arguments | psap.perf.load_job }}"
"""

RETURN = r"""
_value:
  description:
    - C(words), the command; C(files) of the folder C(/inputs) by name; C(environment); C(results), artifacts by the
      path in the pod; C(load) in words; C(timeout_s), the maximum seconds until the load has ended; C(deadline_s), the
      maximum lifetime of the Job in seconds.
  type: dict
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.arguments import convert
from ansible_collections.psap.perf.plugins.module_utils.serving.generators.contract import Load
from ansible_collections.psap.perf.plugins.module_utils.serving.generators.loads import load_job
from ansible_collections.psap.perf.plugins.plugin_utils.filters import INPUT, documented


class FilterModule:
    """Compute a Job's invocation of a load generator."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Return this file's filter."""
        return {"load_job": documented(DOCUMENTATION, _compute)}


def _compute(args: Mapping[str, Any]) -> dict[str, Any]:
    given = args[INPUT]
    return asdict(load_job(convert(given, Load), given["data_claim"], given["start_timeout"]))
