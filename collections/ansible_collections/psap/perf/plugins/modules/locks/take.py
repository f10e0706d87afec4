# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: take
short_description: Lock a cluster, or a host without Kubernetes
version_added: 0.1.0
description:
  - Locks the cluster by the Lease C(psap-perf-lock) in namespace C(default), or the host by a file in I(folder). Runs
    that do not belong to the owner wait or are refused until it expires or is released.
  - An owner that has the lock extends it. Others queue, with the runs that wait; what is waited for is shown.
  - Of a file the clock of the host decides, of a Lease that of the API server. A host without Kubernetes may have any
    connection.
author: The psap.perf developers (@openshift-psap)
options:
  owner:
    description: Whose lock it is.
    type: str
    required: true
  what:
    description: What for, for others to read.
    type: str
    default: ""
  duration:
    description: For how long, from now on.
    type: str
    required: true
  timeout:
    description: For how long to wait for others; not at all with V(0).
    type: str
    default: "0"
  folder:
    description: The folder of the host in which the lock is; the lock is the cluster's if it is empty.
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
  description: Whose it is, and until when.
  type: str
  returned: success
"""
