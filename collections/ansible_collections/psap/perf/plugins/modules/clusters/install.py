# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: install
short_description: Create a cluster on AWS by openshift-install
version_added: 0.1.0
description:
  - Notes the cluster in its record, renders its install-config, has the program C(openshift-install) make manifests and
    ignition configs of it, notes by what the cluster is destroyed, and has it created. Its kubeconfig and the password
    of C(kubeadmin) stay in the folder of the record, for its owner alone.
  - Of a creation that was killed, what is there is destroyed first. A cluster that is created already stays as it is.
  - When it fails, the logs of the bootstrap machine are gathered; what the record names is destroyed by the verb
    M(psap.perf.clusters.uninstall).
  - Its arguments are those of its command, see C(ansible-doc --type role psap.perf.cluster_create_ocp).
author: The psap.perf developers (@openshift-psap)
"""

EXAMPLES = r"""
- name: Create a cluster
  psap.perf.clusters.install:
"""

RETURN = r"""
cluster:
  description: The record, with C(kubeconfig), C(api), C(console), C(destruction) and all else.
  type: dict
  returned: success
record:
  description: Where it is.
  type: str
  returned: success
"""
