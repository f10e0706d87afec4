# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: extend
short_description: Extend the lease of hosts of QUADS
version_added: 0.1.0
description:
  - Sets the end of each host's schedule, which needs an administrator's account. For other accounts, it fails with the
    current end; ask the lab for an extension.
  - Its arguments are those of its command, see C(ansible-doc --type role psap.perf.quads_extend_assignment).
author: The psap.perf developers (@openshift-psap)
"""

EXAMPLES = r"""
- name: Extend the lease by a day
  psap.perf.quads.extend:
"""

RETURN = r"""
lease_end:
  description: Earliest end of the hosts' leases, in UTC.
  type: str
  returned: success
hosts:
  description: Hosts whose lease was extended.
  type: list
  elements: str
  returned: success
"""
