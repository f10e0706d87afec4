# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: endpoint
short_description: Find the address of a served model
version_added: 0.1.0
description:
  - Returns the address of an InferenceService or LLMInferenceService for this machine, in its parts. On a lab it is the
    address of the emulated model server, or of the Service of a model on a real node. It changes nothing.
author: The psap.perf developers (@openshift-psap)
extends_documentation_fragment: [psap.perf.served_model]
options:
  within_cluster:
    description: Return the address for pods of the cluster instead.
    type: bool
    default: false
"""

EXAMPLES = r"""
- name: Find the address of the model
  psap.perf.serving.endpoint:
    name: granite
    namespace: models
  register: endpoint
"""

RETURN = r"""
url:
  description: The base URL, without a slash at its end.
  type: str
  returned: success
scheme:
  description: V(http) or V(https).
  type: str
  returned: success
host:
  description: The host.
  type: str
  returned: success
port:
  description: The port.
  type: int
  returned: success
path:
  description: The path before C(/v1/completions); often empty.
  type: str
  returned: success
simulated:
  description: Whether the pods of the model are on simulated nodes of a lab.
  type: bool
  returned: success
"""
