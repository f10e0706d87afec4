# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: facts
short_description: Read facts about a host
version_added: 0.1.0
description:
  - Reads operating system, processors and memory of the host, by M(ansible.builtin.setup), in the same fields and units
    for Linux, macOS and Windows.
  - Names of the host and its users, addresses and serial numbers are left out.
author: The psap.perf developers (@openshift-psap)
options: {}
"""

EXAMPLES = r"""
- name: Read facts about the host
  psap.perf.hosts.facts:
  register: host
"""

RETURN = r"""
facts:
  description: Facts about the host; unknown ones are null.
  type: dict
  returned: success
  contains:
    system: {description: "V(linux), V(darwin) or V(windows).", type: str}
    distribution: {description: "The distribution, or the operating system's name.", type: str}
    version: {description: Its version., type: str}
    kernel: {description: The kernel's version., type: str}
    arch: {description: The architecture., type: str}
    product: {description: The machine's model., type: str}
    processor: {description: The processor's model., type: str}
    cpus: {description: How many processors the system has., type: int}
    memory_bytes: {description: The memory., type: int}
    virtual: {description: "The type of virtualization; null for a physical machine.", type: str}
"""
