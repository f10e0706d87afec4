# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
name: grpc_call
short_description: Compute a Job's call of a model of ModelMesh
version_added: 0.1.0
description:
  - Converts the arguments of a command of the group wisdom to those of ghz or grpcurl, and reads the proto files.
author: The psap.perf developers (@openshift-psap)
positional: program
options:
  _input:
    description:
      - The arguments of the command by their names without the role's. C(namespace), C(model_name), C(host),
        C(protos_path), C(proto), C(call), C(start_timeout) and C(job_timeout) are read.
    type: dict
    required: true
  program:
    description: The program.
    type: str
    choices: [ghz, grpcurl]
    required: true
  options:
    description: Its options in addition to those that select the model.
    type: list
    elements: str
    default: []
  data:
    description: Requests that ghz sends in turn.
    type: list
    elements: raw
    default: []
  tags:
    description: Tags that ghz writes to its results.
    type: dict
    default: {}
"""

EXAMPLES = r"""
- name: Compute the Job's call of the model
  ansible.builtin.set_fact:
    called: "{{ arguments | psap.perf.grpc_call('grpcurl', options=['-d={}']) }}"
"""

RETURN = r"""
_value:
  description:
    - The C(words) of the command; its C(files), each with C(key) of a ConfigMap, C(path) and C(text); C(deadline_s),
      the maximum lifetime of the Job in seconds.
  type: dict
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.serving.grpc.call import grpc_call
from ansible_collections.psap.perf.plugins.plugin_utils.filters import INPUT, documented


class FilterModule:
    """Compute a Job's call of a model."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Return this file's filter."""
        return {"grpc_call": documented(DOCUMENTATION, _compute)}


def _compute(args: Mapping[str, Any]) -> dict[str, Any]:
    return asdict(grpc_call(args[INPUT], args["program"], args["options"], args["data"], args["tags"]))
