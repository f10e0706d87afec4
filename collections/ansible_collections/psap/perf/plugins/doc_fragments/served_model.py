# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations


class ModuleDocFragment:
    """The served model that a verb acts on."""

    DOCUMENTATION = r"""
options:
  kind:
    description: Kind of the object that serves the model.
    type: str
    choices: [InferenceService, LLMInferenceService]
    default: InferenceService
  name:
    description: Its name.
    type: str
    required: true
  namespace:
    description: Its namespace.
    type: str
    required: true
  protocol:
    description: Protocol of requests; V(http) is OpenAI's API.
    type: str
    choices: [http, grpc]
    default: http
"""
