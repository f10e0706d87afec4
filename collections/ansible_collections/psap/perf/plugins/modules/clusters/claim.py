# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: claim
short_description: Claim a cluster of a pool of Hive
version_added: 0.1.0
description:
  - Notes the cluster in its record, creates a ClusterClaim with its name, waits until the cluster runs, and writes its
    kubeconfig to the folder of the record, for its owner alone. The password stays in the Secret that the record names.
  - What is claimed already is found by its name and by whose it is. A claim that is gone is made anew.
  - The wait ends early when the claim or its cluster is deleted, or the machines cannot be started for C(patience).
  - Its arguments are those of its command, see C(ansible-doc --type role psap.perf.cluster_create_hive).
author: The psap.perf developers (@openshift-psap)
"""

EXAMPLES = r"""
- name: Claim a cluster
  psap.perf.clusters.claim:
"""

RETURN = r"""
cluster:
  description: The record, with C(kubeconfig), C(api), C(console), C(expires) and all else.
  type: dict
  returned: success
record:
  description: Where it is.
  type: str
  returned: success
"""
