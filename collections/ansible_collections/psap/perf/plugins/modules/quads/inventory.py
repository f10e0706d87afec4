# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: inventory
short_description: Write inventories of hosts of QUADS
version_added: 0.1.0
description:
  - Writes C(hosts.yml), a plain inventory, and C(jetlag.local), one for jetlag, which installs OpenShift. No
    password is written; both read it from the environment, E(BMC_PASSWORD).
  - It changes nothing on the server.
  - Its arguments are those of its command, see C(ansible-doc --type role psap.perf.quads_write_inventory).
author: The psap.perf developers (@openshift-psap)
"""

EXAMPLES = r"""
- name: Write both
  psap.perf.quads.inventory:
"""

RETURN = r"""
files:
  description: Paths of the inventories by format.
  type: dict
  returned: success
"""
