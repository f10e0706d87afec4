# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: delete_managed
short_description: Delete a managed cluster by OpenShift Cluster Manager
version_added: 0.1.0
description:
  - Deletes the cluster that the record names, waits until it no longer exists, and removes the folder of the record.
    Without a record, or after a deletion, it changes nothing.
  - Its arguments are those of its command, see C(ansible-doc --type role psap.perf.cluster_destroy_osd).
author: The psap.perf developers (@openshift-psap)
"""

EXAMPLES = r"""
- name: Delete the cluster
  psap.perf.clusters.delete_managed:
"""

RETURN = r"""
cluster:
  description: The record after the call; empty if it is missing.
  type: dict
  returned: success
record:
  description: Path of the record.
  type: str
  returned: success
"""
