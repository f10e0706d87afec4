# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: delete
short_description: Delete the objects that a selector matches
version_added: 0.1.0
description:
  - Deletes in one request for each kind, and waits until the objects are gone; those that a controller makes in their
    place may be there then. Nothing to delete is no change, nor is a kind that the cluster does not know.
  - In check mode it says what would go.
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
    description: Where the objects are, one namespace or several; leave it out for kinds outside namespaces.
    type: list
    elements: str
  name:
    description: Objects by their names.
    type: list
    elements: str
  label_selector:
    description: Which objects, as kubectl's C(-l). Either this or a name is required.
    type: str
  timeout:
    description: How long to wait until each kind's objects are gone, in seconds or like V(2m).
    type: str
    default: 5m
"""

EXAMPLES = r"""
- name: Remove what the collection made here
  psap.perf.delete:
    kinds:
      - {kind: Job}
      - {kind: Pod}
    namespace: scale
    label_selector: app.kubernetes.io/managed-by=psap.perf
"""

RETURN = r"""
deleted:
  description: How many objects of each kind there were.
  type: dict
  returned: success
  sample: {Job: 100, Pod: 100}
"""
