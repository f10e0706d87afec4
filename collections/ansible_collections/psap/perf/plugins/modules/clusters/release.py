# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: release
short_description: Release a claimed cluster of Hive
version_added: 0.1.0
description:
  - Deletes the ClusterClaim that the record names, so that Hive destroys the cluster, and removes the folder of the
    record. Without a record, or after a release, it changes nothing.
  - Its arguments are those of its command, see C(ansible-doc --type role psap.perf.cluster_destroy_hive).
author: The psap.perf developers (@openshift-psap)
"""

EXAMPLES = r"""
- name: Release the cluster
  psap.perf.clusters.release:
"""

RETURN = r"""
cluster:
  description: The record after the call; empty if it is missing.
  type: dict
  returned: success
record:
  description: Path of the record.
  type: str
  returned: success
"""
