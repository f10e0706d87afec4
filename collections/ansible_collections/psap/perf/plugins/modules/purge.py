# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: purge
short_description: Delete CustomResourceDefinitions and all their custom resources
version_added: 0.1.0
description:
  - For the remains of a product, whether or not its controllers still run. The objects of all namespaces are deleted,
    kind after kind, and then the definitions.
  - If there is nothing to delete, nothing changes. In check mode it returns what it would delete.
author: The psap.perf developers (@openshift-psap)
options:
  groups:
    description: API groups whose definitions to delete; V(x.io) includes V(y.x.io).
    type: list
    elements: str
    default: []
  labels:
    description: Names of labels; definitions with any of them are deleted too, regardless of their group.
    type: list
    elements: str
    default: []
  first:
    description: Names of definitions whose objects to delete first, in this order.
    type: list
    elements: str
    default: []
  finalizers_after:
    description:
      - How long controllers have to finalize the objects of each kind, in seconds or like V(1m); then the finalizers of
        remaining objects are removed.
    type: str
    default: 1m
  timeout:
    description: How long to wait until the objects of each kind are gone, in seconds or like V(5m).
    type: str
    default: 5m
"""

EXAMPLES = r"""
- name: Remove the kinds of the product with all their objects
  psap.perf.purge:
    groups: [opendatahub.io]
    first: [datascienceclusters.datasciencecluster.opendatahub.io]
"""

RETURN = r"""
purged:
  description: The definitions, and the number of objects of each.
  type: dict
  returned: success
  sample: {datascienceclusters.datasciencecluster.opendatahub.io: 1}
freed:
  description: The objects whose finalizers were removed.
  type: list
  elements: str
  returned: success
"""
