# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: cold_starts
short_description: Delete the pods of a model repeatedly, and measure each new start
version_added: 0.1.0
description:
  - Deletes all pods of a served model, waits until a new one is Ready and answers, and repeats this. Records when each
    step of each start was seen, by the clock of the controller.
  - Writes C(cold_starts.json) in the directory of the cell after each start.
  - Fails early if a new pod cannot start.
author: The psap.perf developers (@openshift-psap)
extends_documentation_fragment: [psap.perf.matrix_cell, psap.perf.served_model]
options:
  count:
    description: Number of starts.
    type: int
    required: true
  timeout:
    description: Time limit of each start, in seconds or as a duration such as V(90s).
    type: str
    required: true
  first_answer:
    description: Whether a start ends with the first answer, by OpenAI's API. Otherwise it ends when the pod is Ready.
    type: bool
    default: true
  authority:
    description: File with certificates of the server's authority, trusted instead of the system's.
    type: str
    default: ""
  asked:
    description: The description of the service, for the record.
    type: dict
    required: true
    suboptions:
      model:
        description: Name of the model.
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
"""

EXAMPLES = r"""
- name: Start the model ten times
  psap.perf.serving.cold_starts:
    cell: "{{ perf_cell }}"
    name: phi-2
    namespace: models
    count: 10
    timeout: 10m
    asked: {model: phi-2, runtime: vllm, image: "quay.io/vllm:1"}
"""

RETURN = r"""
starts:
  description: Number of starts.
  type: int
  returned: success
"""
