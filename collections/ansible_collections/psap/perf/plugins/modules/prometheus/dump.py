# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: dump
short_description: Dump the Prometheus database to an archive
version_added: 0.1.0
description:
  - Writes a C(.tar.gz) that C(prometheus --storage.tsdb.path) opens once it is unpacked, and reads it to its end.
  - With O(via=api) it is a snapshot, which is consistent; Prometheus must run on this machine. With O(via=exec) it is
    the folder in the pod; its log is written while it is read, and Prometheus repairs its end.
  - Its arguments are those of its command, see C(ansible-doc --type role psap.perf.cluster_dump_prometheus_db).
author: The psap.perf developers (@openshift-psap)
options:
  via:
    description: The admin API, or tar in the pods.
    type: str
    choices: [exec, api]
    required: true
"""

EXAMPLES = r"""
- name: Keep the database
  psap.perf.prometheus.dump:
    via: api
"""

RETURN = r"""
archives:
  description: Of each archive its C(file), and how many C(files), C(size_bytes) and C(blocks) it has.
  type: list
  elements: dict
  returned: success
"""
