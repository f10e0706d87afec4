# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: delete
short_description: Delete the objects that a selector matches
version_added: 0.1.0
description:
  - Deletes in one request for each kind, and waits until the objects are gone; a controller may create others in their
    place. If there is nothing to delete, or the cluster does not serve a kind, nothing changes.
  - In check mode it returns what it would delete.
author: The psap.perf developers (@openshift-psap)
options:
  kinds:
    description: The kinds, deleted one after the other in this order.
    type: list
    elements: dict
    required: true
    suboptions:
      kind:
        description: The kind.
        type: str
        required: true
      api_version:
        description: Its API group, whose version the server chooses, or group and version; known kinds need none.
        type: str
  namespace:
    description: One or several namespaces of the objects; leave it out for kinds without namespaces.
    type: list
    elements: str
  name:
    description: Names of the objects.
    type: list
    elements: str
  label_selector:
    description: Label selector in the format of kubectl's C(-l). Either this or a name is required.
    type: str
  timeout:
    description: How long to wait until each kind's objects are gone, in seconds or like V(2m).
    type: str
    default: 5m
"""

EXAMPLES = r"""
- name: Delete the objects of the collection
  psap.perf.delete:
    kinds:
      - {kind: Job}
      - {kind: Pod}
    namespace: scale
    label_selector: app.kubernetes.io/managed-by=psap.perf
"""

RETURN = r"""
deleted:
  description: Number of deleted objects of each kind.
  type: dict
  returned: success
  sample: {Job: 100, Pod: 100}
"""
