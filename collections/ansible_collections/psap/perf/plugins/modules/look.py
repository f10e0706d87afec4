# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: look
short_description: Get objects from the cluster
version_added: 0.1.0
description:
  - What a command must know before it acts. Nothing found is no failure, nor is a kind that the cluster does not serve.
author: The psap.perf developers (@openshift-psap)
extends_documentation_fragment: [psap.perf.query]
options:
  query:
    description:
      - JMESPath expression over each object that gives what is returned of it; all of it if not given. Ansible takes
        about 6 ms of CPU for each whole pod that a task returns.
    type: str
"""

EXAMPLES = r"""
- name: Look for storage classes
  psap.perf.look:
    kind: StorageClass
  register: __storage_deploy_nfs_provisioner_classes
"""

RETURN = r"""
objects:
  description: The objects, or what O(query) gives of them, in the order of the server; values of Secrets are not shown.
  type: list
  elements: dict
  returned: success
served:
  description: Whether the cluster serves the kind.
  type: bool
  returned: success
"""
