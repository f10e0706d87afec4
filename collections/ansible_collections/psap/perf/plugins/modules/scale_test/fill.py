# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: fill
short_description: Create numbered copies of objects in many namespaces
version_added: 0.1.0
description:
  - Renders a template once and creates copies of its objects that differ by their number, in every namespace that
    O(namespaces) selects. What is there already is left as it is, so that a second call creates only what is missing.
  - Every object gets the label C(psap.perf/busy-cluster=yes), and O(labels). An object of the same name without
    this label is not touched.
  - A lost answer, a 429, a 5xx and a broken connection are tried again for two minutes. What is refused for good, by a
    quota, for want of a right, in a namespace that is being deleted, ends its kind in that namespace only; the task
    fails at the end and says why.
  - Writes C(artifacts/progress.json) while it works and C(artifacts/creation.json) at its end. In check mode it
    says how many objects it would create.
author: The psap.perf developers (@openshift-psap)
options:
  template:
    description:
      - A template of the role, with one or more YAML documents, either Namespaces or objects of namespaces. Beside the
        host's variables it sees V(number), which the name of each object contains, V(openshift) and
        V(assigns_user_ids), as with M(psap.perf.apply).
    type: str
    required: true
  count:
    description: How many copies there are to be, in each namespace.
    type: int
    required: true
  namespaces:
    description: Label selector of the namespaces, as kubectl's C(-l). Namespaces themselves need none.
    type: str
    default: psap.perf/busy-cluster=yes
  labels:
    description: Further labels of every object.
    type: dict
    default: {}
  rate:
    description: Objects a second; V(0) for as many as the API server takes.
    type: float
    default: 0.0
  connections:
    description: How many requests may be under way at one time; V(0) for as many as the API server takes, up to 128.
    type: int
    default: 0
"""

EXAMPLES = r"""
- name: Create a hundred ConfigMaps in each namespace
  psap.perf.scale_test.fill:
    template: configmap.yml.j2
    count: 100
"""

RETURN = r"""
kinds:
  description: By kind, how many objects there are to be, were there and were created.
  type: dict
  returned: always, but where the namespaces are yet to be created
  sample: {ConfigMap: {wanted: 1000, existed: 0, created: 1000}}
missing:
  description: How many are not there; in check mode, how many would be created.
  type: int
  returned: always, but where the namespaces are yet to be created
"""
