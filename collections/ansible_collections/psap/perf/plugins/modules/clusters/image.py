# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: image
short_description: Create an AWS image from a disk that a script changes
version_added: 0.1.0
description:
  - Creates a volume from a snapshot, starts a machine with it, runs a script there over SSH, and registers an image of
    the volume. It replaces an image of the same name.
  - Machine, volume and security group are deleted in any case. They have the tag C(psap.perf/image) with the image's
    name, by which the next call deletes resources of a killed call.
  - The verb generates the machine's host key and passes it with the user data, so that the key is verified from the
    first connection on. The machine needs cloud-init.
  - Its other arguments are those of its command, see C(ansible-doc --type role psap.perf.crc_refresh_image).
author: The psap.perf developers (@openshift-psap)
requirements: [boto3, cryptography, ssh, scp]
options:
  scripts:
    description: Folder that is copied to the machine.
    type: path
    required: true
  command:
    description:
      - Name of a script in that folder, and its arguments. It runs in bash as root; before these arguments it gets the
        IDs of the two volumes, the second of which may be empty.
    type: list
    elements: str
    required: true
  spare_gib:
    description: Size of a second, empty disk in GiB; V(0) for none.
    type: int
    default: 0
"""

EXAMPLES = r"""
- name: Create the image
  psap.perf.clusters.image:
    scripts: "{{ role_path }}/files"
    command: [refresh_image.sh, "https://github.com/crc-org/snc", main]
"""

RETURN = r"""
image:
  description: ID of the image; empty in check mode.
  type: str
  returned: success
"""
