# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: pull_secret
short_description: Add or remove registry credentials in OpenShift's global pull secret
version_added: 0.1.0
description:
  - OpenShift copies the Secret C(pull-secret) of C(openshift-config) to every node. Credentials of other registries in
    it stay unchanged. An annotation lists the added registries, so that V(absent) removes only these.
  - In check mode it reports whether it would change anything. No credentials are shown.
author: The psap.perf developers (@openshift-psap)
options:
  credentials:
    description:
      - A reference to a Docker configuration, as registries provide it for download, such as V(file:pull-secret.json).
        Required with V(present).
    type: str
    default: ""
  state:
    description: Whether to add or to remove the credentials.
    type: str
    choices: [present, absent]
    default: present
"""

EXAMPLES = r"""
- name: Let the cluster pull the catalog
  psap.perf.openshift.pull_secret:
    credentials: "{{ rhoai_pull_secret }}"
"""

RETURN = r"""
registries:
  description: The registries whose credentials are added or removed.
  type: list
  elements: str
  returned: success
"""
