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
  - During a load, reads them every few seconds until a pod has ended, and answers the shipped queries of the layer
    C(model_server) from these values, as C(psap.perf.prometheus.query) does with a Prometheus. Writes the answers to
    C(artifacts/server_metrics/).
  - During a load of an LLMInferenceService, reads the metrics of its endpoint picker, too, at the port that its pods
    name C(metrics), and answers the queries of the layer C(endpoint_picker). If they cannot be read, it warns.
  - It does not change the cluster.
author: The psap.perf developers (@openshift-psap)
extends_documentation_fragment: [psap.perf.served_model]
options:
  port:
    description:
      - Port of the pods that serves the metrics. If a probe of the pod uses HTTPS at this port, they are read by TLS;
        the certificate is not verified, because the port-forward connects with the pod itself.
    type: int
    default: 8080
  moment:
    description:
      - Whether this is before, during or after the load. V(before) discards values that were recorded earlier.
        V(during) returns when the load has ended.
    type: str
    choices: [before, during, after]
    required: true
  until:
    description: For O(moment=during), labels of the pod that is Ready or ended after the load.
    type: str
    default: ""
  until_namespace:
    description: Namespace of that pod; empty for the model's.
    type: str
    default: ""
  interval:
    description: For O(moment=during), time between two readings, in seconds or as a duration such as V(5s).
    type: str
    default: 2s
  timeout:
    description: For O(moment=during), when to end at the latest, in seconds or as a duration such as V(90s).
    type: str
    default: 1h
  picker_account:
    description:
      - ServiceAccount of the namespace whose token is sent to the endpoint picker for its metrics; it needs the right
        to get the URL C(/metrics). Empty for no token.
    type: str
    default: ""
  folder:
    description: Folder of the documents below C(artifacts/).
    type: str
    default: ""
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

- name: Record what the server does during the load
  psap.perf.serving.metrics:
    name: granite
    namespace: models
    moment: during
    until: psap.perf/load=load
"""

RETURN = r"""
series:
  description: Number of recorded values.
  type: int
  returned: success
"""
