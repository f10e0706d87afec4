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
  - The wait ends early when the claim or its cluster is deleted, or the machines cannot be started for O(patience).
author: The psap.perf developers (@openshift-psap)
extends_documentation_fragment: [psap.perf.cluster_record, psap.perf.cluster_begun]
options:
  pool:
    description: Name of the ClusterPool.
    type: str
    required: true
  namespace:
    description: Namespace of the ClusterPool, in which the claim is made.
    type: str
    required: true
  kubeconfig:
    description: Kubeconfig of the cluster where Hive runs; that of the task's host if empty.
    type: path
    default: ""
  context:
    description: Context of O(kubeconfig); the current one if empty.
    type: str
    default: ""
  timeout:
    description: How long to wait for the cluster, in seconds or as V(30m).
    type: str
    required: true
  patience:
    description: How long Hive may try to start machines that fail to start, in seconds or as V(5m).
    type: str
    default: 5m
"""

EXAMPLES = r"""
- name: Claim a cluster
  psap.perf.clusters.claim:
    pool: ocp-4-18-gpu
    namespace: perf-pools
    time_to_live: 4h
    timeout: 30m
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
