# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: model_start
short_description: Record the steps of a model's start
version_added: 0.1.0
description:
  - Reads an InferenceService, its pods and their events, and writes C(artifacts/model_start.json) of the command, by
    which the analysis knows the start of a model.
  - Stamps of the API are of full seconds, but for the scheduler's events. What the command itself saw is given in
    milliseconds, by the clock of the controller; each step says whose clock it is by.
  - Where there is no such InferenceService, nothing is written. It changes nothing.
author: The psap.perf developers (@openshift-psap)
options:
  name:
    description: The InferenceService.
    type: str
    required: true
  namespace:
    description: Its namespace.
    type: str
    required: true
  pod_selector:
    description: Its pods, as kubectl's C(-l).
    type: str
    required: true
  asked:
    description: What is served.
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
        description: Image of the server.
        type: str
        required: true
  seen:
    description: What the command saw, as C(at) of C(psap.perf.apply) and C(psap.perf.wait); empty for what it did not.
    type: dict
    default: {}
    suboptions:
      applied:
        description: The InferenceService was applied, and that changed it.
        type: str
        default: ""
      scheduled:
        description: A pod had a node.
        type: str
        default: ""
      ready:
        description: The model was loaded.
        type: str
        default: ""
"""

EXAMPLES = r"""
- name: Write down how it started
  psap.perf.serving.model_start:
    name: granite
    namespace: models
    pod_selector: serving.kserve.io/inferenceservice=granite
    asked: {model: granite-8b-code-instruct, runtime: vllm, image: "{{ image }}"}
    seen: {applied: "{{ applied.at }}", ready: "{{ loaded.at }}"}
"""

RETURN = r"""
steps:
  description: The steps by the cluster's clocks, each with C(step), C(after), C(took_s), C(clock), C(resolution_s).
  type: list
  elements: dict
  returned: when there is such an InferenceService
seen:
  description: The steps by the clock of the controller, alike.
  type: list
  elements: dict
  returned: when there is such an InferenceService
"""
