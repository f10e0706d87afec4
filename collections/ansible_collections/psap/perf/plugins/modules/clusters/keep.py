# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: keep
short_description: Keep a created cluster
version_added: 0.1.0
description:
  - Puts the ConfigMap C(keep-cluster) into namespace C(default) of the cluster, notes in the record that it stays, and
    writes the console's address and the commands for the login and the destruction to the artifacts of the command.
  - No password is written; the login command reads it where the record says that it stands.
  - Its arguments are those of its command, see C(ansible-doc --type role psap.perf.cluster_keep).
author: The psap.perf developers (@openshift-psap)
"""

EXAMPLES = r"""
- name: Keep the cluster
  psap.perf.clusters.keep:
"""

RETURN = r"""
cluster:
  description: The record as it is then.
  type: dict
  returned: success
login:
  description: The shell line that logs in; empty where nobody knows a password.
  type: str
  returned: success
destroy:
  description: The shell line that destroys the cluster.
  type: str
  returned: success
"""
