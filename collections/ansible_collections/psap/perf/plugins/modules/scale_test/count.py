# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: count
short_description: Count the objects with which a cluster was filled
version_added: 0.1.0
description:
  - Counts the objects with the label C(psap.perf/busy-cluster=yes), by kind and namespace, and how many of them are
    ready, completed, failed or being deleted. It changes nothing.
  - Writes C(artifacts/counts.json), and C(artifacts/counts.txt) as a table.
author: The psap.perf developers (@openshift-psap)
options:
  kinds:
    description: The kinds; a kind that the cluster does not serve has no objects.
    type: list
    elements: str
    default: [Namespace, ConfigMap, Secret, Service, Deployment, Job, Pod]
  namespaces:
    description: Label selector of the namespaces, as kubectl's C(-l); empty for all.
    type: str
    default: ''
"""

EXAMPLES = r"""
- name: Count the objects
  psap.perf.scale_test.count:
  register: counted
"""

RETURN = r"""
total:
  description: By kind, the numbers of objects that C(exist), are C(ready), C(completed), C(failed), C(being_deleted).
  type: dict
  returned: success
namespaces:
  description: The same by namespace. A Namespace with the label counts in itself.
  type: dict
  returned: success
"""
