# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: machine_scaling
short_description: Plan the scaling of an instance type's MachineSets
version_added: 0.1.0
description:
  - Looks at the cluster's MachineSets and changes nothing. The provider (AWS, IBM Cloud, Google Cloud, Azure) is read
    from them.
  - Without O(name) the machines of all sets of the type count, and the first set takes up the difference.
author: The psap.perf developers
options:
  instance_type:
    description: The type, as the provider calls it.
    type: str
    required: true
  scale:
    description: How many machines of it there shall be.
    type: int
    required: true
  name:
    description: The set that shall have them, whatever others of the type have; empty for all sets of the type.
    type: str
    default: ""
  base_machineset:
    description: The set that is cloned when there is none; empty for the first of workers.
    type: str
    default: ""
  force:
    description: Whether sets of the type beyond the first may be scaled to 0.
    type: bool
    default: false
  taint:
    description: Taints of the nodes, as V(key=value:effect).
    type: list
    elements: str
    default: []
  spot:
    description: Whether the machines are to be spot instances.
    type: bool
    default: false
  disk_size:
    description: Size of the root volume in GB; the cloned set's if not given.
    type: int
  ibm:
    description: Refused when it is not what the MachineSets say.
    type: bool
  namespace:
    description: Where MachineSets live.
    type: str
    default: openshift-machine-api
"""

EXAMPLES = r"""
- name: Decide what changes
  psap.perf.openshift.machine_scaling:
    instance_type: g5.2xlarge
    scale: 4
  register: __cluster_set_scale
"""

RETURN = r"""
clone:
  description: A MachineSet to create; empty for none.
  type: dict
  returned: success
changes:
  description: Sets to change, each with its name and what to merge into it.
  type: list
  elements: dict
  returned: success
removed:
  description: Sets to delete, which this collection made and of which no machine is wanted any more, as manifests.
  type: list
  elements: dict
  returned: success
awaited:
  description: Sets to wait for.
  type: list
  elements: str
  returned: success
leaving:
  description: Machines to be the first to go, in sets that become smaller.
  type: list
  elements: str
  returned: success
failed:
  description: Machines that failed, and do not go anyway.
  type: list
  elements: str
  returned: success
"""
