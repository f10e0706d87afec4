# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: profiler
short_description: Start or stop the profiler of a model server
version_added: 0.1.0
description:
  - Sends C(POST /start_profile) or C(POST /stop_profile) to each Ready pod of the model, through a port-forward. These
    are the endpoints of vLLM's profiler, which vLLM has with its option C(--profiler-config), or in older versions with
    C(VLLM_TORCH_PROFILER_DIR) in its environment.
  - The server writes its traces into the directory that is set there.
  - If a pod cannot start, the profilers that were started are stopped.
author: The psap.perf developers (@openshift-psap)
extends_documentation_fragment: [psap.perf.served_model]
options:
  port:
    description: Port of the pods that serves HTTP without TLS.
    type: int
    default: 8080
  state:
    description: State of the profiler.
    type: str
    choices: [started, stopped]
    required: true
  timeout:
    description:
      - Limit of a request, in seconds or as a duration such as V(90s). A server that stops writes its trace before it
        answers.
    type: str
    default: 10m
"""

EXAMPLES = r"""
- name: Start the profiler of the server before the load
  psap.perf.serving.profiler:
    name: granite
    namespace: models
    state: started
"""

RETURN = r"""
pods:
  description: Names of the pods.
  type: list
  elements: str
  returned: success
"""
