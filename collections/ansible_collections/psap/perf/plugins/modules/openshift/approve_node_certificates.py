# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: approve_node_certificates
short_description: Approve node certificate signing requests until all nodes are ready
version_added: 0.1.0
description:
  - After a cluster was asleep for long, its nodes' certificates have run out, and somebody must approve new ones.
  - Approves only what a node of the cluster asks for itself, or OpenShift's node bootstrapper for it; anything else
    that is pending is left alone and told in C(refused). Nothing to approve is no change.
  - Its arguments are those of its command, see C(ansible-doc --type role psap.perf.cluster_wait_fully_awake).
author: The psap.perf developers (@openshift-psap)
"""

EXAMPLES = r"""
- name: Let the nodes in again
  psap.perf.openshift.approve_node_certificates:
"""

RETURN = r"""
approved:
  description: Names of the requests that were approved.
  type: list
  elements: str
  returned: success
refused:
  description: Requests that are pending and were left alone, each with its name and why.
  type: list
  elements: str
  returned: success
"""
