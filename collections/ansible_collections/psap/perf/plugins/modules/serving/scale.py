# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: scale
short_description: Record the settings of a scale test of served models
version_added: 0.1.0
description:
  - Writes C(kserve_scale.json) in the directory of a cell, before its users begin. With it the analysis can count users
    that never deployed a model.
author: The psap.perf developers (@openshift-psap)
extends_documentation_fragment: [psap.perf.matrix_cell]
options:
  users:
    description: The number of users.
    type: int
    required: true
  users_as:
    description: How they run.
    type: str
    choices: [lanes, pods]
    default: lanes
  models_per_user:
    description: The number of models of each user.
    type: int
    required: true
  start_interval:
    description: Interval between the starts of users, in seconds or like V(90s).
    type: str
    default: "0"
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
      answers_checked:
        description: Whether each model is sent a prompt when it is ready.
        type: bool
        required: true
"""

EXAMPLES = r"""
- name: Record the settings of the users
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
  description: Start of the first user, in UTC with milliseconds by the clock of the controller.
  type: str
  returned: success
"""
