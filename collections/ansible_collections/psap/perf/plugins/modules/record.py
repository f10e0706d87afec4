# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: record
short_description: Write values to a command's artifacts
version_added: 0.1.0
description:
  - Writes values that later steps or readers need, such as the address of a server, to a document in C(artifacts/) of
    the command. It does not change the cluster.
author: The psap.perf developers (@openshift-psap)
options:
  file:
    description: Name of the document, without suffix.
    type: str
    required: true
  values:
    description: The values by name.
    type: dict
    required: true
"""

EXAMPLES = r"""
- name: Record the address of the server
  psap.perf.record:
    file: address
    values:
      host: redis.test.svc
      port: 6379
"""

RETURN = r"""
file:
  description: The document's path.
  type: str
  returned: success
values:
  description: The values.
  type: dict
  returned: success
"""
