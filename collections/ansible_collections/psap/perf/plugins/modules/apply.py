# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: apply
short_description: Apply objects from a template with server-side apply
version_added: 0.1.0
description:
  - Renders manifests, keeps them in C(src/) of the command, and sends them to the server with server-side apply, as
    field manager C(psap.perf). An object that is already as described is not changed.
  - In check mode the server's dry run is shown; if the namespace or the CRD does not exist yet, the rendered manifest.
  - With O(state=absent) the objects are deleted, in reverse order; the task waits until they are gone.
author: The psap.perf developers (@openshift-psap)
options:
  template:
    description:
      - A template of the role, with one or more YAML documents. In addition to the host's variables it has
        V(openshift), whether the cluster is OpenShift, and V(assigns_user_ids), whether it assigns user IDs to the pods
        of O(namespace), as OpenShift does except in namespaces such as V(default).
    type: str
  definition:
    description: The manifests themselves, instead of a template.
    type: list
    elements: dict
  namespace:
    description: The namespace of objects without one.
    type: str
  labels:
    description: Labels for every object.
    type: dict
    default: {}
  patch:
    description:
      - Changes of the manifests, by kind, for fields without an argument. Dictionaries merge by
        key, null removes a key, lists of entries with a name merge by the name; everything else is replaced.
    type: dict
    default: {}
  owned:
    description:
      - Whether the objects get the label C(app.kubernetes.io/managed-by). V(false) is for fields of objects with other
        creators.
    type: bool
    default: true
  secrets:
    description:
      - Values of Secrets among the manifests, by the Secret's name and key, each a reference such as
        V(env:MINIO_PASSWORD); of MachineConfigs, contents of files, by the name of the object and the path of the file.
      - The values are sent only to the server. Files, differences and results show C((secret)) for values of Secrets
        and for contents in MachineConfigs, the latter with size and checksum.
    type: dict
    default: {}
  when_served:
    description: Kinds whose objects are left out if the cluster does not serve them, such as V(Route).
    type: list
    elements: str
    default: []
  replace:
    description:
      - Kinds whose objects are deleted and created again if the server refuses to change immutable fields, such as
        V(Job). Do not list kinds with data.
    type: list
    elements: str
    default: []
  temporary:
    description:
      - Whether the command deletes the objects at its end. They get the label C(psap.perf/temporary) with the ID of the
        run, by which M(psap.perf.delete_temporary) deletes the objects of a killed command.
    type: bool
    default: false
  state:
    description: Whether the objects are to exist.
    type: str
    choices: [present, absent]
    default: present
  timeout:
    description: How long to wait until deleted objects and their dependents are gone, in seconds or like V(2m).
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
  description: The applied or deleted objects, such as C(Deployment redis/redis-deployment), and whether they changed.
  type: list
  elements: dict
  returned: success
at:
  description: Time of the last of them, in UTC with milliseconds by the clock of the controller.
  type: str
  returned: success
"""
