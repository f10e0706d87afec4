# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: uninstall
short_description: Destroy a cluster on AWS by openshift-install
version_added: 0.1.0
description:
  - Destroys what there is of the cluster that the record names, however far its creation came, and removes the folder
    of the record. Where nothing is noted, or all is destroyed, it changes nothing.
author: The psap.perf developers (@openshift-psap)
extends_documentation_fragment: [psap.perf.cluster_record, psap.perf.installer]
"""

EXAMPLES = r"""
- name: Destroy the cluster
  psap.perf.clusters.uninstall:
    timeout: 1h
"""

RETURN = r"""
cluster:
  description: The record as it is then; empty where there is none.
  type: dict
  returned: success
record:
  description: Where it is.
  type: str
  returned: success
"""
