# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: kept
short_description: Find out whether a created cluster is kept
version_added: 0.1.0
description:
  - A cluster is kept if the ConfigMap C(keep-cluster) is in its namespace C(default), or if it cannot be reached and
    its record is marked as kept. A cluster that was not created completely is not kept.
  - Its arguments are those of its command, see C(ansible-doc --type role psap.perf.cluster_destroy).
author: The psap.perf developers (@openshift-psap)
"""

EXAMPLES = r"""
- name: Check whether the cluster is kept
  psap.perf.clusters.kept:
  register: kept
"""

RETURN = r"""
cluster:
  description: The record; empty if it is missing.
  type: dict
  returned: success
record:
  description: Path of the record.
  type: str
  returned: success
kept_by:
  description: Who keeps it, and since when; empty if it is not kept.
  type: str
  returned: success
"""
