# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: retrieve
short_description: Copy files from a host, or to it
version_added: 0.1.0
description:
  - Copies a file, or the content of a folder, over Ansible's connection, as one compressed archive whose checksum is
    compared. Existing files without a counterpart stay.
  - The archive on the host is removed, by M(psap.perf.hosts.undo) if the command is killed.
author: The psap.perf developers (@openshift-psap)
options:
  path:
    description: The file or folder that is copied, of the host or with O(push) of the controller.
    type: str
    required: true
  dest:
    description:
      - The folder that it is copied into, which is created. Without O(push) a relative one is in the artifacts of the
        command.
    type: str
    required: true
  push:
    description: Copy to the host, not from it.
    type: bool
    default: false
  move:
    description: Remove it from the host when it has arrived; not with O(push).
    type: bool
    default: false
  required:
    description: Whether it is an error if it is not on the host; else nothing is copied.
    type: bool
    default: true
  work_directory:
    description: Folder of the host in which the archive is for as long as it is copied.
    type: str
    default: /var/tmp
  most_mib:
    description: The most that is copied, in MiB before it is compressed.
    type: int
    default: 1024
"""

EXAMPLES = r"""
- name: Retrieve results
  psap.perf.hosts.retrieve:
    path: /var/tmp/results
    dest: results
"""

RETURN = r"""
files:
  description: How many files were copied.
  type: int
  returned: success
content_bytes:
  description: How many bytes they have.
  type: int
  returned: success
"""
