# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: retrieve
short_description: Copy files from a host, or to it
version_added: 0.1.0
description:
  - Copies a file, or the content of a folder, over Ansible's connection, as one compressed archive whose checksum is
    verified. Existing files without a counterpart stay.
  - The archive on the host is removed, by M(psap.perf.hosts.undo) if the command is killed.
author: The psap.perf developers (@openshift-psap)
options:
  path:
    description: File or folder to copy, on the host or with O(push) on the controller.
    type: str
    required: true
  dest:
    description:
      - Folder to copy into; created if missing. Without O(push), a relative path is in the artifacts of the command.
    type: str
    required: true
  push:
    description: Copy to the host, not from it.
    type: bool
    default: false
  move:
    description: Remove it from the host after the copy; not with O(push).
    type: bool
    default: false
  required:
    description: Fail if it is not on the host; otherwise nothing is copied.
    type: bool
    default: true
  work_directory:
    description: Folder of the host for the temporary archive.
    type: str
    default: /var/tmp
  most_mib:
    description: Maximum size in MiB before compression.
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
  description: Number of copied files.
  type: int
  returned: success
content_bytes:
  description: Their size.
  type: int
  returned: success
"""
