# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: uninstall
short_description: Destroy a cluster on AWS by openshift-install
version_added: 0.1.0
description:
  - Destroys all resources of the cluster that the record names, even of an incomplete creation, and removes the folder
    of the record. Without a record, or after a destruction, it changes nothing.
  - With C(tag), it destroys the resources in AWS that have this tag instead, for a cluster without a record. In check
    mode it lists them.
  - Its arguments are those of its command, see C(ansible-doc --type role psap.perf.cluster_destroy_ocp).
author: The psap.perf developers (@openshift-psap)
"""

EXAMPLES = r"""
- name: Destroy the cluster
  psap.perf.clusters.uninstall:
"""

RETURN = r"""
cluster:
  description: The record after the call; empty if it is missing.
  type: dict
  returned: success
resources:
  description: Names of the resources with C(tag) before the destruction.
  type: list
  returned: with C(tag)
record:
  description: Path of the record.
  type: str
  returned: success
"""
