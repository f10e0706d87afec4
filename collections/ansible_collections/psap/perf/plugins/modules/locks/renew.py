# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: renew
short_description: Extend the lock of a host
version_added: 0.1.0
description:
  - Extends a lock that M(psap.perf.locks.take) took in a folder of the host. Its duration starts again now.
author: The psap.perf developers (@openshift-psap)
options:
  owner:
    description: Owner of the lock.
    type: str
    required: true
  folder:
    description: Folder of the lock on the host.
    type: str
    required: true
  required:
    description: Whether to fail if the owner does not have the lock. If false, the verb only returns whether it does.
    type: bool
    default: true
"""

EXAMPLES = r"""
- name: Continue only as the owner
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
  description: Seconds that the lock lasts from its last extension on; 0 if the owner does not have it.
  type: float
  returned: success
"""
