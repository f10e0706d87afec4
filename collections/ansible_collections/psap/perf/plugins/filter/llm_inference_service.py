# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
name: llm_inference_service
short_description: Change the manifest of an LLMInferenceService
version_added: 0.1.0
description:
  - Applies a name, a flavor, the model, arguments of vLLM, the scheduler's configuration, fields of the pods, and
    whether requests need a token. Other fields are kept.
author: The psap.perf developers (@openshift-psap)
positional: flavor
options:
  _input:
    description: The manifest.
    type: dict
    required: true
  flavor:
    description:
      - V(BASE[-tpN|-dtpN][-xN][-ptpN][-pxN]). The base is V(simple) (the Service distributes requests),
        V(intelligentrouting) (a scheduler distributes them) or V(pd) (prefill and decode are separate); then the GPUs
        and replicas of the decode stage, and both of the prefill stage, whose replicas are per decode replica. The
        manifest's values if empty.
    type: str
    default: ""
  name:
    description: Name of the service; the manifest's if empty.
    type: str
    default: ""
  namespace:
    description: Namespace of the service; the manifest's if empty.
    type: str
    default: ""
  model_uri:
    description: Source of the model, such as V(hf://facebook/opt-125m); the manifest's if empty.
    type: str
    default: ""
  model_name:
    description: Its name in requests; the manifest's if empty.
    type: str
    default: ""
  model_claim:
    description:
      - PersistentVolumeClaim with the model, in a folder named after its source, such as V(facebook/opt-125m) for
        V(hf://facebook/opt-125m); if empty, pods read it from the source.
    type: str
    default: ""
  annotations:
    description: Annotations of the service and of its pods.
    type: dict
    default: {}
  auth:
    description:
      - Whether Open Data Hub requires a token in requests, its annotation C(security.opendatahub.io/enable-auth). If
        V(false), the annotation of the manifest or of O(annotations) is kept, and is V(false) without one.
    type: bool
    default: false
  pod:
    description: Fields of the templates of all pods that serve the model, such as C(nodeSelector).
    type: dict
    default: {}
  labels:
    description: Labels of the service.
    type: dict
    default: {}
  pull_secrets:
    description: Names of the Secrets with which all pods, including the scheduler's, pull their images.
    type: list
    elements: str
    default: []
  vllm_args:
    description: Arguments of vLLM, after those of the manifest, for all pods that serve the model.
    type: list
    elements: str
    default: []
  vllm_args_in:
    description:
      - Where the containers read additional arguments. OpenShift AI's templates expand the variable
        E(VLLM_ADDITIONAL_ARGS); KServe's own templates append the arguments of the container.
    type: str
    choices: [environment, arguments]
    default: environment
  max_model_len:
    description: Maximum tokens of a prompt and its answer, the argument C(--max-model-len); vLLM's default if 0.
    type: int
    default: 0
  scheduler_config:
    description: EndpointPickerConfig of the scheduler; KServe's default if empty.
    type: dict
    default: {}
"""

EXAMPLES = r"""
- name: Decode on two replicas of 4 GPUs, prefill on one
  ansible.builtin.set_fact:
    manifest: "{{ given | psap.perf.llm_inference_service('pd-tp4-x2-ptp4') }}"
"""

RETURN = r"""
_value:
  description: The manifest.
  type: dict
"""

from collections.abc import Callable, Mapping
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.serving.flavors import Shape, apply_shape
from ansible_collections.psap.perf.plugins.plugin_utils.filters import INPUT, documented


class FilterModule:
    """Change the manifest of an LLMInferenceService."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Return this file's filter."""
        return {"llm_inference_service": documented(DOCUMENTATION, _shaped)}


def _shaped(args: Mapping[str, Any]) -> dict[str, Any]:
    return apply_shape(args[INPUT], Shape(**{name: value for name, value in args.items() if name != INPUT}))
