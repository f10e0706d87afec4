# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: model_start
short_description: Record the steps of a model's start
version_added: 0.1.0
description:
  - Reads an InferenceService or LLMInferenceService, the pods that serve its requests and their events, and writes
    C(artifacts/model_start.json) of the command, which marks the start of a model for the analysis.
  - Timestamps of the API have full seconds, except the scheduler's events. Times that the command saw are in
    milliseconds, by the clock of the controller; each step has its clock.
  - If the service does not exist, nothing is written. It does not change the cluster.
author: The psap.perf developers (@openshift-psap)
extends_documentation_fragment: [psap.perf.served_model]
options:
  asked:
    description: The description of the service.
    type: dict
    required: true
    suboptions:
      model:
        description: The model.
        type: str
        required: true
      runtime:
        description: The server.
        type: str
        required: true
      image:
        description: Image of the server; if empty, its container's.
        type: str
        default: ""
  seen:
    description:
      - The moments that the command saw, with their times in UTC. C(seen) of C(psap.perf.serving.wait_ready), with
        C(applied), that is C(at) of C(psap.perf.apply), and C(first answer), that is C(first_at) of
        C(psap.perf.serving.ask).
    type: dict
    default: {}
"""

EXAMPLES = r"""
- name: Record its start
  psap.perf.serving.model_start:
    name: granite
    namespace: models
    asked: {model: granite-8b-code-instruct, runtime: vllm, image: "{{ image }}"}
    seen: "{{ {'applied': applied.at} | combine(loaded.seen) }}"
"""

RETURN = r"""
steps:
  description: The steps by the cluster's clocks, each with C(step), C(after), C(took_s), C(clock), C(resolution_s).
  type: list
  elements: dict
  returned: when there is such a service
seen:
  description: The steps by the clock of the controller, in the same format.
  type: list
  elements: dict
  returned: when there is such a service
"""
