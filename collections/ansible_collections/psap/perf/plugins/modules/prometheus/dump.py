# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: dump
short_description: Dump the Prometheus database to an archive
version_added: 0.1.0
description:
  - Writes a C(.tar.gz) that C(prometheus --storage.tsdb.path) opens after unpacking, and verifies it by reading it.
  - With O(via=api) it is a consistent snapshot; Prometheus must run on this machine. With O(via=exec) it is the folder
    in the pod, whose log changes meanwhile; Prometheus repairs the log's end.
  - Its arguments are its command's, see C(ansible-doc --type role psap.perf.cluster_dump_prometheus_db).
author: The psap.perf developers (@openshift-psap)
options:
  via:
    description: The admin API, or tar in the pods.
    type: str
    choices: [exec, api]
    required: true
"""

EXAMPLES = r"""
- name: Dump the database
  psap.perf.prometheus.dump:
    via: api
"""

RETURN = r"""
archives:
  description: The C(file) of each archive, and its numbers of C(files), C(size_bytes) and C(blocks).
  type: list
  elements: dict
  returned: success
"""
