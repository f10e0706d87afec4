# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations


class ModuleDocFragment:
    """Which Prometheus a verb is about."""

    DOCUMENTATION = r"""
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
"""
