# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: uninstall
short_description: Destroy a cluster on AWS by openshift-install
version_added: 0.1.0
description:
  - Destroys what there is of the cluster that the record names, however far its creation came, and removes the folder
    of the record. Where nothing is noted, or all is destroyed, it changes nothing.
  - With O(tag) it destroys instead what has that tag in AWS, of a cluster of which there is no record. In check mode
    it lists that.
author: The psap.perf developers (@openshift-psap)
extends_documentation_fragment: [psap.perf.cluster_record, psap.perf.installer]
options:
  tag:
    description:
      - Infrastructure ID of the cluster, such as V(perf-sutest-1f0c9a-x7k2p), with which the key of its tag ends. It
        must be whole; only what has the value V(owned) is the cluster's own.
    type: str
    default: ""
  region:
    description: Region of AWS of the cluster with O(tag).
    type: str
    default: ""
  endpoint:
    description: Address of another API than that of AWS, by which it is listed what has O(tag).
    type: str
    default: ""
"""

EXAMPLES = r"""
- name: Destroy the cluster
  psap.perf.clusters.uninstall:
    timeout: 1h

- name: Destroy a cluster of which nothing is noted
  psap.perf.clusters.uninstall:
    tag: perf-sutest-1f0c9a-x7k2p
    region: us-east-2
    timeout: 1h
"""

RETURN = r"""
cluster:
  description: The record as it is then; empty where there is none.
  type: dict
  returned: success
resources:
  description: Names of what has O(tag), before it was destroyed.
  type: list
  returned: with O(tag)
record:
  description: Where it is.
  type: str
  returned: success
"""
