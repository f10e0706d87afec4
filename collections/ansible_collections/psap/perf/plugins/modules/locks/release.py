# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: release
short_description: End the lock of a cluster, or of a host without Kubernetes
version_added: 0.1.0
description:
  - Ends what M(psap.perf.locks.take) began. It fails if the lock is another owner's, and changes nothing if there is
    none.
author: The psap.perf developers (@openshift-psap)
options:
  owner:
    description: Whose lock it is.
    type: str
    required: true
  folder:
    description: The folder of the host in which the lock is; the lock is the cluster's if it is empty.
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
