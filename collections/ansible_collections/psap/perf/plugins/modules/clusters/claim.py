# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: claim
short_description: Claim a cluster of a Hive pool
version_added: 0.1.0
description:
  - Records the cluster, creates a ClusterClaim with its name, and waits until the cluster runs. Writes its kubeconfig
    to the folder of the record, readable by its owner only. The password stays in the Secret that the record names.
  - A repeated call finds its claim by name and owner. A claim that no longer exists is created again.
  - The wait ends early if the claim or its cluster is deleted, or if Hive cannot start the machines within C(patience).
  - Its arguments are those of its command, see C(ansible-doc --type role psap.perf.cluster_create_hive).
author: The psap.perf developers (@openshift-psap)
"""

EXAMPLES = r"""
- name: Claim a cluster
  psap.perf.clusters.claim:
"""

RETURN = r"""
cluster:
  description: The record, with C(kubeconfig), C(api), C(console), C(expires) and its other fields.
  type: dict
  returned: success
record:
  description: Path of the record.
  type: str
  returned: success
"""
