# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: ask
short_description: Ask a served model and check its answers
version_added: 0.1.0
description:
  - Sends prompts to C(/v1/completions) of an InferenceService, or to a gRPC method, one after the other. Each answer
    must have text and the number of its tokens.
  - gRPC needs the Python libraries grpcio, grpcio-reflection and grpcio-tools. A call has the model's name as its
    header C(mm-model-id).
  - Prompts and answers are kept in C(artifacts/<name>/answers.json) of the command.
author: The psap.perf developers (@openshift-psap)
extends_documentation_fragment: [psap.perf.served_model]
options:
  model:
    description: Name of the model in requests; by default the name of the InferenceService.
    type: str
    default: ""
  method:
    description: The gRPC method to call, with one request and one answer, C(package.Service/Method).
    type: str
    default: fmaas.GenerationService/Generate
  proto:
    description: The file that describes it, which imports others from its folder; the server's reflection if not given.
    type: str
    default: ""
  request:
    description: Its request, with the placeholders V({prompt}), V({model}) and V({tokens}).
    type: dict
    default:
      model_id: "{model}"
      requests: [{text: "{prompt}"}]
      params: {stopping: {max_new_tokens: "{tokens}"}}
  answer:
    description: JMESPath that extracts C(text), C(prompt_tokens) and C(completion_tokens) from its answer.
    type: str
    default: >-
      responses[0].{text: text, prompt_tokens: input_token_count, completion_tokens: generated_token_count}
  prompts:
    description: The prompts, in this order.
    type: list
    elements: str
    required: true
  tokens:
    description: Maximum number of tokens of an answer.
    type: int
    default: 100
  port_forward:
    description:
      - Port of a pod of the model to use through the API server, like C(kubectl port-forward), instead of the model's
        address; 0 for the address.
    type: int
    default: 0
  tls_server_name:
    description:
      - Name that the certificate of the pod must have, such as C(granite-predictor.models.svc); if not given, a
        port-forward uses no TLS. For an address it is the host.
    type: str
    default: ""
  authority:
    description: File with certificates of the server's authority, trusted instead of the system's.
    type: str
    default: ""
  api_key:
    description:
      - Reference to the secret with the bearer token of requests, such as V(file:api.key); none if empty. A gRPC call
        has it as the header C(authorization); requests of reflection have none, so pass O(proto).
    type: str
    default: ""
  timeout:
    description:
      - How long to repeat the first prompt until it is answered, in seconds or like V(90s). Further prompts are sent
        once.
    type: str
    default: 2m
  request_timeout:
    description: How long to wait for a response, in seconds or like V(90s).
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
  description: The address, or the port and the pod.
  type: str
  returned: success
answers:
  description: The number of answers.
  type: int
  returned: success
first_at:
  description: Time of the first answer, in UTC with milliseconds by the clock of the controller.
  type: str
  returned: success
"""
