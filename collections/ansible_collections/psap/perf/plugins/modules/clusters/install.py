# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: install
short_description: Create a cluster on AWS by openshift-install
version_added: 0.1.0
description:
  - Records the cluster, renders its install-config, creates manifests and ignition configs with the program
    C(openshift-install), records the data for its destruction, and creates it. Its kubeconfig and the password of
    C(kubeadmin) stay in the folder of the record, readable by its owner only.
  - Resources of a killed creation are destroyed first. A cluster that is created stays unchanged.
  - If the creation fails, the logs of the bootstrap machine are gathered; M(psap.perf.clusters.uninstall) destroys the
    resources of the record.
  - Its arguments are those of its command, see C(ansible-doc --type role psap.perf.cluster_create_ocp).
author: The psap.perf developers (@openshift-psap)
"""

EXAMPLES = r"""
- name: Create a cluster
  psap.perf.clusters.install:
"""

RETURN = r"""
cluster:
  description: The record, with C(kubeconfig), C(api), C(console), C(destruction) and its other fields.
  type: dict
  returned: success
record:
  description: Path of the record.
  type: str
  returned: success
"""
