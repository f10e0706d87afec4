# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: fill
short_description: Create numbered copies of objects in many namespaces
version_added: 0.1.0
description:
  - Renders a template once and creates copies of its objects that differ by their number, in every namespace that
    O(namespaces) selects. Existing objects are not changed, so that a second call creates only the missing ones.
  - Every object gets the label C(psap.perf/busy-cluster=yes), and O(labels). An object of the same name without
    this label is not changed.
  - A request is repeated for two minutes after a lost response, a 429, a 5xx or a broken connection. A permanent
    refusal, such as by a quota, a missing permission, or a namespace that is being deleted, ends only that kind in that
    namespace; the task fails at the end with the reason.
  - Writes C(artifacts/progress.json) while it works and C(artifacts/creation.json) at its end. In check mode it
    returns how many objects it would create.
author: The psap.perf developers (@openshift-psap)
options:
  template:
    description:
      - A template of the role, with one or more YAML documents, either Namespaces or objects of namespaces. In addition
        to the host's variables, it can use V(number), which the name of each object contains, V(openshift) and
        V(assigns_user_ids), as with M(psap.perf.apply).
    type: str
    required: true
  count:
    description: Wanted number of copies in each namespace.
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
    description: Objects a second; V(0) for as many as the API server accepts.
    type: float
    default: 0.0
  connections:
    description: Maximum number of concurrent requests; V(0) for as many as the API server accepts, up to 128.
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
  description: By kind, the numbers of objects that are wanted, existed and were created.
  type: dict
  returned: always, except in check mode before the namespaces exist
  sample: {ConfigMap: {wanted: 1000, existed: 0, created: 1000}}
missing:
  description: Number of missing objects; in check mode, of those that would be created.
  type: int
  returned: always, except in check mode before the namespaces exist
"""
