# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: ask
short_description: Ask a served model and check its answers
version_added: 0.1.0
description:
  - Sends prompts to C(/v1/completions) of an InferenceService, one after the other. Each must be answered with text and
    with the number of its tokens.
  - Prompts and answers are kept in C(artifacts/<name>/answers.json) of the command.
author: The psap.perf developers (@openshift-psap)
extends_documentation_fragment: [psap.perf.served_model]
options:
  model:
    description: Name of the model in requests; that of the InferenceService if not given.
    type: str
    default: ""
  prompts:
    description: What is asked, in this order.
    type: list
    elements: str
    required: true
  tokens:
    description: How many tokens an answer has at most.
    type: int
    default: 100
  authority:
    description: File with the certificates of the authority that vouches for the server, beside the system's.
    type: str
    default: ""
  timeout:
    description:
      - How long it may take until the first prompt is answered, which is asked again until then, as seconds or like
        V(90s). Each further one is asked once.
    type: str
    default: 2m
  request_timeout:
    description: How long the server may be silent, as seconds or like V(90s).
    type: str
    default: 60s
"""

EXAMPLES = r"""
- name: Ask the model
  psap.perf.serving.ask:
    name: granite
    namespace: models
    prompts: ["What is Kubernetes?"]
"""

RETURN = r"""
url:
  description: The address that was asked.
  type: str
  returned: success
answers:
  description: The number of answers.
  type: int
  returned: success
first_at:
  description: When the first answer was there, in UTC with milliseconds by the clock of the controller.
  type: str
  returned: success
"""
