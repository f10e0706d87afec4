# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: list
short_description: List assignments of QUADS
version_added: 0.1.0
description:
  - Lists active assignments with their hosts and ends. It changes nothing, and needs no login.
  - Its arguments are those of its command, see C(ansible-doc --type role psap.perf.quads_list_assignments).
author: The psap.perf developers (@openshift-psap)
"""

EXAMPLES = r"""
- name: List mine
  psap.perf.quads.list:
"""

RETURN = r"""
assignments:
  description: Assignments with C(cloud), C(hosts), C(description), flags and C(lease_end).
  type: list
  elements: dict
  returned: success
free_clouds:
  description: Clouds that have no assignment.
  type: list
  elements: str
  returned: success
"""
