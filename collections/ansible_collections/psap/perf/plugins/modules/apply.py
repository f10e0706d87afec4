# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: apply
short_description: Apply objects from a template with server-side apply
version_added: 0.1.0
description:
  - Renders manifests, keeps them in C(src/) of the command, and gives them to the server with server-side apply, as
    field manager C(psap.perf). An object that is already as described is not changed.
  - In check mode the server's dry run is shown; where the namespace or the CRD is not there yet, the rendered manifest.
  - With O(state=absent) the objects are deleted, in reverse order, and it is waited until they are gone.
author: The psap.perf developers (@openshift-psap)
options:
  template:
    description:
      - A template of the role, with one or more YAML documents. Beside the host's variables it sees V(openshift),
        whether the cluster is one, and V(assigns_user_ids), whether it gives the pods of O(namespace) their user ids,
        as an OpenShift does but for namespaces such as V(default).
    type: str
  definition:
    description: The manifests themselves, instead of a template.
    type: list
    elements: dict
  namespace:
    description: The namespace of those objects that name none.
    type: str
  labels:
    description: Labels for every object.
    type: dict
    default: {}
  patch:
    description:
      - Put over the manifests of a kind, by kind, for fields that no argument has a name for. Dictionaries merge by
        key, null takes a key away, lists of things with a name merge by the name; everything else is replaced.
    type: dict
    default: {}
  owned:
    description:
      - Whether the objects get the label C(app.kubernetes.io/managed-by). V(false) is for fields of objects that others
        made.
    type: bool
    default: true
  secrets:
    description:
      - Values of Secrets among the manifests, by the Secret's name and key, each a reference such as
        V(env:MINIO_PASSWORD); of MachineConfigs, contents of files, by the name of the object and the path of the file.
      - The values go to the server only. Files, differences and results show C((secret)) for every value of a Secret,
        and for contents in every MachineConfig, these with size and sum.
    type: dict
    default: {}
  when_served:
    description: Kinds whose objects are left out where the cluster does not serve them, such as V(Route).
    type: list
    elements: str
    default: []
  replace:
    description:
      - Kinds whose objects are deleted and made anew when the server refuses to change them because fields are
        immutable, such as V(Job). Never one that keeps data.
    type: list
    elements: str
    default: []
  temporary:
    description:
      - Whether the objects are there only for as long as the command works, which deletes them at its end. They get
        the label C(psap.perf/temporary) with the ID of the run, by which M(psap.perf.delete_temporary) deletes what a
        killed command left.
    type: bool
    default: false
  state:
    description: Whether the objects are to be there.
    type: str
    choices: [present, absent]
    default: present
  timeout:
    description: How long to wait until deleted objects, with all that they own, are gone, as seconds or like V(2m).
    type: str
    default: 2m
"""

EXAMPLES = r"""
- name: Deploy the server
  psap.perf.apply:
    template: redis.yml.j2
    namespace: "{{ server_deploy_redis_server_namespace }}"
"""

RETURN = r"""
objects:
  description: What was applied or deleted, for example C(Deployment redis/redis-deployment), and if that changed it.
  type: list
  elements: dict
  returned: success
at:
  description: When the last of them was, in UTC with milliseconds by the clock of the controller.
  type: str
  returned: success
"""
