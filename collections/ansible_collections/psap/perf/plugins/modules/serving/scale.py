# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: scale
short_description: Record what a scale test of served models asks for
version_added: 0.1.0
description:
  - Writes C(kserve_scale.json) in the directory of a cell, before its users begin. With it the analysis knows of users
    that never came to deploy a model.
author: The psap.perf developers (@openshift-psap)
extends_documentation_fragment: [psap.perf.matrix_cell]
options:
  users:
    description: The number of users.
    type: int
    required: true
  models_per_user:
    description: The number of models of each.
    type: int
    required: true
  start_interval:
    description: By how much each user begins later than the one before it, in seconds or like V(90s).
    type: str
    default: "0"
  asked:
    description: What is served, for the record.
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
      answers_checked:
        description: Whether each model is asked once it is ready.
        type: bool
        required: true
"""

EXAMPLES = r"""
- name: Record what is asked of the users
  psap.perf.serving.scale:
    cell: "{{ perf_cell }}"
    users: 20
    models_per_user: 2
    start_interval: 1s
    asked: {model: phi-2, runtime: vllm, image: "quay.io/vllm:1", answers_checked: true}
  register: scale
"""

RETURN = r"""
at:
  description: When the first user is to begin, in UTC with milliseconds by the clock of the controller.
  type: str
  returned: success
"""
