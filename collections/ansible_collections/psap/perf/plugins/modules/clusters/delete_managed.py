# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: delete_managed
short_description: Delete a managed cluster by OpenShift Cluster Manager
version_added: 0.1.0
description:
  - Deletes the cluster that the record names, waits until it is gone, and removes the folder of the record. Where
    nothing is noted, or all is deleted, it changes nothing.
author: The psap.perf developers (@openshift-psap)
extends_documentation_fragment: [psap.perf.cluster_record, psap.perf.cluster_manager]
"""

EXAMPLES = r"""
- name: Delete the cluster
  psap.perf.clusters.delete_managed:
    timeout: 1h
"""

RETURN = r"""
cluster:
  description: The record as it is then; empty where there is none.
  type: dict
  returned: success
record:
  description: Where it is.
  type: str
  returned: success
"""
