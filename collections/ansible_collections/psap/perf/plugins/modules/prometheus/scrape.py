# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: scrape
short_description: Save what the targets of a ServiceMonitor or PodMonitor answer
version_added: 0.1.0
description:
  - Asks each target once, as Prometheus would, and keeps its page as C(artifacts/metrics/<pod>_<port>.txt), with the
    path where it is not C(/metrics). C(artifacts/metrics_targets.yml) lists them, and what went wrong.
  - Targets are reached by a port-forward through the API server, so that no pod of ours is needed, and credentials that
    the monitor names are shown to them; certificates are verified where the monitor names the authority in an object.
  - When a target does not answer, or there is none, it fails, after it has asked all others.
author: The psap.perf developers (@openshift-psap)
options:
  kind:
    description: The monitor's kind.
    type: str
    choices: [ServiceMonitor, PodMonitor]
    default: ServiceMonitor
  name:
    description: The monitor's name.
    type: str
    required: true
  namespace:
    description: Where the monitor is.
    type: str
    required: true
  service_account:
    description:
      - Namespace and name of the service account whose token is shown where the monitor names a file of Prometheus'
        (C(bearerTokenFile)). The token is valid for ten minutes and is not stored.
    type: str
    default: openshift-monitoring/prometheus-k8s
  timeout:
    description: How long a target may be silent, in seconds or like V(10s).
    type: str
    default: 10s
"""

EXAMPLES = r"""
- name: Keep what the queues' controller says of itself
  psap.perf.prometheus.scrape:
    name: kueue-controller-manager-metrics-monitor
    namespace: kueue-system
"""

RETURN = r"""
targets:
  description: Of each target where it is, and its C(file) and C(samples), or its C(error).
  type: list
  elements: dict
  returned: always
"""
