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
  - It changes nothing of the server.
author: The psap.perf developers (@openshift-psap)
extends_documentation_fragment: [psap.perf.quads, psap.perf.quads_booking]
options:
  formats:
    description: Which inventories.
    type: list
    elements: str
    choices: [hosts, jetlag]
    default: [hosts]
  folder:
    description: Folder of the files; C(artifacts/) of the command if empty.
    type: str
    default: ""
  ocpinv:
    description:
      - Address of the lab's C(ocpinv.json), in which V({cloud}) is the name of the cloud. It names BMCs and MACs
        better than the API. Hosts that it does not name, or all where there is none, are in a warning.
    type: str
    default: ""
  bmc_user:
    description: User of the management controllers.
    type: str
    default: quads
  controlplanes:
    description: Hosts of the control plane, of jetlag.
    type: int
    default: 3
  network:
    description: Network of the cluster, of jetlag.
    type: str
    default: 198.18.0.0/16
  interface:
    description: Number of the interface in this network, from 0, of jetlag.
    type: int
    default: 1
  interface_name:
    description: Its name in Linux, of jetlag.
    type: str
    default: ""
  lab_interface:
    description: Name of the interface in the lab's network, of jetlag.
    type: str
    default: ""
  install_disk:
    description: Disk on which the system is installed, of jetlag.
    type: str
    default: /dev/sda
"""

EXAMPLES = r"""
- name: Write both
  psap.perf.quads.inventory:
    formats: [hosts, jetlag]
"""

RETURN = r"""
files:
  description: Paths of the inventories by format.
  type: dict
  returned: success
"""
