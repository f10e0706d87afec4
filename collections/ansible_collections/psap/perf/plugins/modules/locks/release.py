# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: release
short_description: Release the lock of a cluster, or of a host without Kubernetes
version_added: 0.1.0
description:
  - Releases the lock of M(psap.perf.locks.take). It fails if another owner has the lock, and changes nothing without a
    lock.
author: The psap.perf developers (@openshift-psap)
options:
  owner:
    description: Owner of the lock.
    type: str
    required: true
  folder:
    description: Folder of the lock on the host; empty for the lock of the cluster.
    type: str
    default: ""
"""

EXAMPLES = r"""
- name: End the lock of the cluster
  psap.perf.locks.release:
    owner: jane
"""

RETURN = r"""
"""
