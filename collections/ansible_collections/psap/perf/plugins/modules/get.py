# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: get
short_description: Get objects from the cluster
version_added: 0.1.0
description:
  - Returns the objects that a query selects. Succeeds also if there are none, or the cluster does not serve the kind.
author: The psap.perf developers (@openshift-psap)
extends_documentation_fragment: [psap.perf.query]
options:
  query:
    description:
      - JMESPath expression that selects the returned part of each object; the whole object if not passed. Ansible needs
        about 6 ms of CPU for each whole pod that a task returns.
    type: str
"""

EXAMPLES = r"""
- name: Get the storage classes
  psap.perf.get:
    kind: StorageClass
  register: __storage_deploy_nfs_provisioner_classes
"""

RETURN = r"""
objects:
  description: The objects, or the parts that O(query) selects, in the server's order; values of Secrets are hidden.
  type: list
  elements: dict
  returned: success
served:
  description: Whether the cluster serves the kind.
  type: bool
  returned: success
"""
