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
  - With C(tag) it destroys instead what has that tag in AWS, of a cluster of which there is no record. In check mode
    it lists that.
  - Its arguments are those of its command, see C(ansible-doc --type role psap.perf.cluster_destroy_ocp).
author: The psap.perf developers (@openshift-psap)
"""

EXAMPLES = r"""
- name: Destroy the cluster
  psap.perf.clusters.uninstall:
"""

RETURN = r"""
cluster:
  description: The record as it is then; empty where there is none.
  type: dict
  returned: success
resources:
  description: Names of what has C(tag), before it was destroyed.
  type: list
  returned: with C(tag)
record:
  description: Where it is.
  type: str
  returned: success
"""
