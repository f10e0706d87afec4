# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: keep
short_description: Keep a created cluster
version_added: 0.1.0
description:
  - Creates the ConfigMap C(keep-cluster) in namespace C(default) of the cluster, marks the record as kept, and writes
    the console's address and the commands for login and destruction to the artifacts of the command.
  - No password is written; the login command reads it from the location in the record.
  - Its arguments are those of its command, see C(ansible-doc --type role psap.perf.cluster_keep).
author: The psap.perf developers (@openshift-psap)
"""

EXAMPLES = r"""
- name: Keep the cluster
  psap.perf.clusters.keep:
"""

RETURN = r"""
cluster:
  description: The record after the call.
  type: dict
  returned: success
login:
  description: The shell line that logs in; empty without a password.
  type: str
  returned: success
destroy:
  description: The shell line that destroys the cluster.
  type: str
  returned: success
"""
