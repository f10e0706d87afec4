# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: approve_node_certificates
short_description: Approve node certificate signing requests until all nodes are ready
version_added: 0.1.0
description:
  - If a cluster was stopped for a long time, the certificates of its nodes have expired, and the requests for new ones
    need an approval.
  - Approves only requests that a node of the cluster sends for itself, or that OpenShift's node bootstrapper sends for
    it. Other pending requests are listed in C(refused). Without a request it changes nothing.
  - Its arguments are those of its command, see C(ansible-doc --type role psap.perf.cluster_wait_fully_awake).
author: The psap.perf developers (@openshift-psap)
"""

EXAMPLES = r"""
- name: Renew the certificates of the nodes
  psap.perf.openshift.approve_node_certificates:
"""

RETURN = r"""
approved:
  description: Names of the requests that were approved.
  type: list
  elements: str
  returned: success
refused:
  description: Pending requests that were not approved, each with its name and the reason.
  type: list
  elements: str
  returned: success
"""
