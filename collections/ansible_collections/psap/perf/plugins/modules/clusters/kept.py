# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: kept
short_description: Say whether a created cluster is kept
version_added: 0.1.0
description:
  - A cluster is kept when its record says so or the ConfigMap C(keep-cluster) is in its namespace C(default). One that
    was not created completely, or cannot be reached and has nothing noted, is not.
  - Its arguments are those of its command, see C(ansible-doc --type role psap.perf.cluster_destroy).
author: The psap.perf developers (@openshift-psap)
"""

EXAMPLES = r"""
- name: Look whether the cluster is kept
  psap.perf.clusters.kept:
  register: looked
"""

RETURN = r"""
cluster:
  description: The record; empty where there is none.
  type: dict
  returned: success
record:
  description: Where it is.
  type: str
  returned: success
kept_by:
  description: Who keeps it, and since when; empty where nobody does.
  type: str
  returned: success
"""
