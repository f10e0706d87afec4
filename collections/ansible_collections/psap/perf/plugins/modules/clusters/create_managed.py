# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: create_managed
short_description: Create a managed cluster by OpenShift Cluster Manager
version_added: 0.1.0
description:
  - Records the cluster, requests OpenShift Dedicated in an AWS account from OpenShift Cluster Manager (OCM), and waits
    until it is ready. Writes its kubeconfig and the password to the folder of the record, readable by its owner only.
  - A repeated call finds its cluster by name and owner. A cluster that no longer exists is created again.
  - Its arguments are those of its command, see C(ansible-doc --type role psap.perf.cluster_create_osd).
author: The psap.perf developers (@openshift-psap)
"""

EXAMPLES = r"""
- name: Create a managed cluster
  psap.perf.clusters.create_managed:
"""

RETURN = r"""
cluster:
  description: The record, with C(kubeconfig), C(api), C(console), C(destruction) and its other fields.
  type: dict
  returned: success
record:
  description: Path of the record.
  type: str
  returned: success
"""
