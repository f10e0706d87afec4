# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: renew
short_description: Extend the lock of a host that an owner has
version_added: 0.1.0
description:
  - Has the lock of an owner last as long again from now on, which M(psap.perf.locks.take) took in a folder of the host.
author: The psap.perf developers (@openshift-psap)
options:
  owner:
    description: Whose lock it is.
    type: str
    required: true
  folder:
    description: The folder of the host in which the lock is.
    type: str
    required: true
  required:
    description: Fail where another owner has the lock, or nobody. Otherwise it is only said, and nothing is extended.
    type: bool
    default: true
"""

EXAMPLES = r"""
- name: Go on only as the owner
  psap.perf.locks.renew:
    owner: nightly
    folder: /var/lib/psap-perf/bastion
"""

RETURN = r"""
locked:
  description: Whether the owner has the lock.
  type: bool
  returned: success
duration_s:
  description: How long the lock lasts from its last extension on; 0 where the owner does not have it.
  type: float
  returned: success
"""
