# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: image
short_description: Create an image of AWS from a disk that a script has changed
version_added: 0.1.0
description:
  - Creates a volume of a snapshot, starts a machine with it, runs a script there over SSH, and registers an image of
    the volume, in the place of the one that has its name.
  - Machine, volume and security group are deleted however it ends. They have the tag C(psap.perf/image) with the
    image's name, by which the next call deletes what a killed one left.
  - The machine's host key is generated here and given to it with its user data, so it is verified from the first
    connection on. That needs cloud-init on the machine.
author: The psap.perf developers (@openshift-psap)
requirements: [boto3, cryptography, ssh, scp]
options:
  name:
    description: Name of the image.
    type: str
    required: true
  snapshot:
    description: ID of a snapshot of the account, of which the disk is created. It stays.
    type: str
    required: true
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
  key_pair:
    description: Name of a key pair of EC2.
    type: str
    required: true
  private_key:
    description: A reference to its private key.
    type: str
    required: true
  user:
    description: Who has this key on the machine, and may use C(sudo) without a password.
    type: str
    required: true
  ssh_source:
    description: Addresses that may connect to the machine, as V(198.51.100.7/32).
    type: str
    required: true
  region:
    description: Region of AWS.
    type: str
    required: true
  zone:
    description: Availability zone of machine and disk.
    type: str
    required: true
  instance_type:
    description: Type of the machine, of x86_64.
    type: str
    required: true
  machine_image:
    description: ID of the image that the machine starts from.
    type: str
    required: true
  spare_gib:
    description: Size of a second, empty disk in GiB; V(0) for none.
    type: int
    default: 0
  credentials:
    description: A reference to the credentials of AWS, as the program C(aws) keeps them; what boto3 finds if empty.
    type: str
    default: ""
  endpoint:
    description: Address of another API than that of AWS.
    type: str
    default: ""
  timeout:
    description: How long to wait for each of its steps, in seconds or as V(30m).
    type: str
    default: 30m
"""

EXAMPLES = r"""
- name: Create the image
  psap.perf.clusters.image:
    name: crc-4.19.3
    snapshot: snap-0123456789abcdef0
    scripts: "{{ role_path }}/files"
    command: [refresh_image.sh, "https://github.com/crc-org/snc", main]
    key_pair: mine
    private_key: file:mine.pem
    user: fedora
    ssh_source: 198.51.100.7/32
    region: us-west-1
    zone: us-west-1a
    instance_type: t3.small
    machine_image: ami-0123456789abcdef0
"""

RETURN = r"""
image:
  description: ID of the image; empty in check mode.
  type: str
  returned: success
"""
