#!/usr/bin/python
# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: boot
short_description: Start a machine and time its first response
version_added: 0.1.0
description:
  - Runs a program on the controller that starts the host of the task, such as a virtual machine. Then it retries from
    the controller until the host answers C(ping) and accepts a login over SSH as the user of Ansible's connection.
  - Times are of the controller's monotonic clock, from right before the start of the program. Each has its resolution,
    the time since the start of the last attempt without a response.
  - The controller must reach the address of the host without another host in between.
  - Its arguments are those of its command, see C(ansible-doc --type role psap.perf.crc_capture_boot_timing).
author: The psap.perf developers (@openshift-psap)
"""

EXAMPLES = r"""
- name: Start the machine
  psap.perf.hosts.boot:
"""

RETURN = r"""
started:
  description: When the program was started, in seconds since the epoch by the controller's clock.
  type: float
  returned: success
ping:
  description: The first echo by ICMP; null if none arrived before the login over SSH, or without a program C(ping).
  type: dict
  returned: success
  contains:
    after_s: {description: Seconds after the start., type: float}
    within_s: {description: Maximum number of seconds that it may have been earlier., type: float}
ssh:
  description: The first command that ran over SSH, with the same fields.
  type: dict
  returned: success
"""
