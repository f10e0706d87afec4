# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: replicas
short_description: Record the replicas of a model during a load
version_added: 0.1.0
description:
  - With I(state=begun), records the replicas of an InferenceService in the background, every half second, and changes
    the InferenceService after I(change_after). The change is first checked by the API server, without effect.
  - With I(state=ended), waits until the replicas have settled, ends the recording, and writes C(autoscale.json) or
    C(rollout.json) in the directory of the cell, with the requests of the cell's loads over time.
  - The model must be served by a Deployment. Reading the loads needs the Python package C(perfanalysis).
  - The recording ends with Ansible, or after I(timeout).
author: The psap.perf developers (@openshift-psap)
extends_documentation_fragment: [psap.perf.matrix_cell, psap.perf.served_model]
options:
  state:
    description:
      - Whether the recording begins or ends. V(stopped) ends a recording after a failed load, without a document; if
        no recording runs, it changes nothing.
    type: str
    choices: [begun, ended, stopped]
    required: true
  mode:
    description: What is measured.
    type: str
    choices: [autoscale, rollout]
    required: true
  change:
    description: Merge patch of the InferenceService; none if empty.
    type: dict
    default: {}
  change_after:
    description:
      - Seconds from the start of the load generator to the change, or a duration such as V(90s). If the change comes
        before the first request or after the last one, I(state=ended) fails.
    type: str
    default: "0"
  timeout:
    description: Longest recording, in seconds or as a duration such as V(90s).
    type: str
    default: 24h
  settle:
    description: Longest wait after the load until the replicas have settled; 0 does not wait.
    type: str
    default: "0"
  model:
    description: Name of the model, for the record.
    type: str
    required: true
"""

EXAMPLES = r"""
- name: Record the replicas during a load
  psap.perf.serving.replicas:
    cell: "{{ perf_cell }}"
    state: begun
    mode: autoscale
    name: phi-2
    namespace: models
    model: phi-2
"""

RETURN = r"""
samples:
  description: Number of samples; 0 when the recording begins.
  type: int
  returned: success
"""
