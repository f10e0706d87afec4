# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: metrics
short_description: Record the metrics of a model server
version_added: 0.1.0
description:
  - Reads C(/metrics) of each Ready pod of the model, through a port-forward, before or after a load. Writes the
    responses to C(artifacts/model_metrics/), and their values for the analysis to C(artifacts/model_metrics.json).
  - It does not change the cluster.
author: The psap.perf developers (@openshift-psap)
extends_documentation_fragment: [psap.perf.served_model]
options:
  port:
    description: Port of the pods that serves the metrics.
    type: int
    default: 8080
  moment:
    description: Whether this is before or after the load. V(before) discards values that were recorded earlier.
    type: str
    choices: [before, after]
    required: true
  facts:
    description: Values that distinguish the load in the report, C(load), C(flavor), C(phase) and C(round).
    type: dict
    default: {}
"""

EXAMPLES = r"""
- name: Record the counters of the server before the load
  psap.perf.serving.metrics:
    name: granite
    namespace: models
    moment: before
"""

RETURN = r"""
series:
  description: Number of recorded values.
  type: int
  returned: success
"""
