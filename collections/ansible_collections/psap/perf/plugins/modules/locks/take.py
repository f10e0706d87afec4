# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: take
short_description: Lock a cluster, or a host without Kubernetes
version_added: 0.1.0
description:
  - Locks the cluster by the Lease C(psap-perf-lock) in namespace C(default), or the host by a file in I(folder). Runs
    that do not belong to the owner wait or are refused until the lock expires or is released.
  - An owner that has the lock extends it. Others queue with the runs that wait; the log shows what they wait for.
  - The clock of the API server decides for a Lease, the host's clock for a file. A host without Kubernetes may have any
    connection.
author: The psap.perf developers (@openshift-psap)
options:
  owner:
    description: Owner of the lock.
    type: str
    required: true
  what:
    description: Purpose of the lock, which others can read.
    type: str
    default: ""
  duration:
    description: How long the lock lasts, from now on.
    type: str
    required: true
  timeout:
    description: How long to wait for other owners; V(0) does not wait.
    type: str
    default: "0"
  folder:
    description: Folder of the lock on the host; empty for the lock of the cluster.
    type: str
    default: ""
"""

EXAMPLES = r"""
- name: Lock the cluster for the night
  psap.perf.locks.take:
    owner: jane
    duration: 12h
    timeout: 1h
"""

RETURN = r"""
lock:
  description: Owner and end of the lock.
  type: str
  returned: success
"""
