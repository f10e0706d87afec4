# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: find
short_description: Find the cluster's Prometheus and the access to it
version_added: 0.1.0
description:
  - Returns its address, and whether its database is accessible by its admin API or in its pods. It changes nothing, and
    its result contains no token.
author: The psap.perf developers (@openshift-psap)
options:
  url:
    description: Its address; if empty, the lab's, else a route of openshift-monitoring, thanos-querier first.
    type: str
    default: ""
  token:
    description: Reference of a secret with the bearer token for O(url), such as V(file:NAME).
    type: str
    default: ""
  authority:
    description: PEM file of certificate authorities to trust for O(url) in addition to the system's.
    type: str
    default: ""
  service_account:
    description: Namespace and name of the service account for which a token, valid for an hour, is created for a route.
    type: str
    default: openshift-monitoring/prometheus-k8s
  via:
    description:
      - V(api) is the admin API, which must be enabled; V(exec) the programs of its pods.
      - V(auto) is V(api) for a given O(url) and for the Prometheus of a lab, and V(exec) on OpenShift, which
        serves no admin API.
    type: str
    choices: [auto, exec, api]
    default: auto
  namespace:
    description: Namespace of its pods.
    type: str
    default: openshift-monitoring
  required:
    description: Whether a missing or inaccessible Prometheus is an error; ignored in check mode and with O(via=exec).
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
  description: Whether one with an address was found.
  type: bool
  returned: success
url:
  description: Its address; empty if none was found.
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
  description: Time of the search, in seconds since the epoch, by the clock of this machine.
  type: float
  returned: success
"""
