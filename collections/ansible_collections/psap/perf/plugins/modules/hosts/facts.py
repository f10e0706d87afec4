# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: facts
short_description: Read what a host is
version_added: 0.1.0
description:
  - Operating system, processors and memory of the host that Ansible reaches, by M(ansible.builtin.setup), in the same
    fields and units for Linux, macOS and Windows.
  - Names of the host and its users, addresses and serial numbers are left out.
author: The psap.perf developers (@openshift-psap)
options: {}
"""

EXAMPLES = r"""
- name: Read what the host is
  psap.perf.hosts.facts:
  register: host
"""

RETURN = r"""
facts:
  description: What the host is; what it does not say is null.
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
    virtual: {description: "What it runs on, if it is no machine of its own.", type: str}
"""
