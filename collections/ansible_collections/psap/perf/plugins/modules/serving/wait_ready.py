# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: wait_ready
short_description: Wait until a served model is ready, and record when each step of its start was seen
version_added: 0.1.0
description:
  - Waits until the pods that load the model have nodes, then until the InferenceService or LLMInferenceService is
    ready. For an LLMInferenceService these are the decode, prefill, leader and worker pods.
  - It fails early like C(psap.perf.wait), and writes the same files. On timeout the error contains a pod without a
    node, and the scheduler's reason.
  - Meanwhile it watches the pods that serve requests and their events, and records when each moment of the start is
    first seen, by the clock of the controller. A change is seen at most 50 ms after the API server sent it. Moments
    before the watch began are not recorded.
author: The psap.perf developers (@openshift-psap)
extends_documentation_fragment: [psap.perf.served_model]
options:
  schedule_timeout:
    description: How long a pod may wait for a node, in seconds or like V(90s), V(1h30m).
    type: str
    required: true
  timeout:
    description: How long the model may take from then until it is ready.
    type: str
    required: true
  patience:
    description: How long its status may be failed before the wait fails, as for C(psap.perf.wait).
    type: str
    default: "0"
"""

EXAMPLES = r"""
- name: Wait until the model is loaded
  psap.perf.serving.wait_ready:
    name: granite
    namespace: models
    schedule_timeout: 20m
    timeout: 90m
"""

RETURN = r"""
seen:
  description:
    - When moments of the start were seen, in UTC with milliseconds; C(ready), and for the pod that was ready first
      C(pod created), C(scheduled), C(model downloaded), C(image pulled), C(container started), C(model loaded).
  type: dict
  returned: always, without those that were not seen
"""
