# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: purge
short_description: Delete CustomResourceDefinitions and all their custom resources
version_added: 0.1.0
description:
  - For what is left of a product, whether or not its controllers still run. The objects of all namespaces are deleted,
    kind after kind, and the definitions when none is left.
  - Nothing to remove is no change. In check mode it says what would go.
author: The psap.perf developers (@openshift-psap)
options:
  groups:
    description: API groups whose definitions go, with those of the groups below them; V(x.io) stands for V(y.x.io) too.
    type: list
    elements: str
    default: []
  labels:
    description: Names of labels; a definition that has any of them goes too, whatever its group.
    type: list
    elements: str
    default: []
  first:
    description: Names of definitions whose objects go first, in this order.
    type: list
    elements: str
    default: []
  finalizers_after:
    description:
      - How long controllers have, for the objects of each kind, to finish them; then the finalizers of what is still
        there are taken away, as seconds or like V(1m).
    type: str
    default: 1m
  timeout:
    description: How long to wait until the objects of each kind are gone, as seconds or like V(5m).
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
  description: The definitions, and how many objects of each there were.
  type: dict
  returned: success
  sample: {datascienceclusters.datasciencecluster.opendatahub.io: 1}
freed:
  description: The objects whose finalizers were taken away.
  type: list
  elements: str
  returned: success
"""
