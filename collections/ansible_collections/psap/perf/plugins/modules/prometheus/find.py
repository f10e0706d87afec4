# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: find
short_description: Find the cluster's Prometheus and how to reach it
version_added: 0.1.0
description:
  - Where it is, and whether its database is reached by its admin API or in its pods. It changes nothing, and no token
    is in what it returns.
author: The psap.perf developers (@openshift-psap)
options:
  url:
    description: Its address; if empty that of the lab, else a route of openshift-monitoring, thanos-querier first.
    type: str
    default: ""
  token:
    description: Reference of a secret with the bearer token for O(url), as V(file:NAME).
    type: str
    default: ""
  authority:
    description: File with certificates, as PEM, that may sign that of O(url) beside those of the system.
    type: str
    default: ""
  service_account:
    description: Namespace and name of the service account of which a token is made, good for an hour, for a route.
    type: str
    default: openshift-monitoring/prometheus-k8s
  via:
    description:
      - V(api) is the admin API, which must be on; V(exec) the programs of its pods.
      - V(auto) is V(api) for an O(url) that is given and for the Prometheus of a lab, and V(exec) on OpenShift, which
        serves no admin API.
    type: str
    choices: [auto, exec, api]
    default: auto
  namespace:
    description: Where its pods are.
    type: str
    default: openshift-monitoring
  required:
    description: Whether there must be one that we may ask; it need not be with O(via=exec), nor in check mode.
    type: bool
    default: true
"""

EXAMPLES = r"""
- name: Find Prometheus
  psap.perf.prometheus.find:
  register: __cluster_reset_prometheus_db_found
"""

RETURN = r"""
found:
  description: Whether there is one with an address.
  type: bool
  returned: success
url:
  description: Its address, empty when there is none.
  type: str
  returned: success
origin:
  description: How it was found, or why not.
  type: str
  returned: success
via:
  description: V(api) or V(exec).
  type: str
  returned: success
at_s:
  description: When it was looked for, in seconds since the epoch, by the clock of this machine.
  type: float
  returned: success
"""
