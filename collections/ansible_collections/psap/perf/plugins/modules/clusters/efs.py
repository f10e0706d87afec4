# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: efs
short_description: Create or delete the EFS file system of a cluster on AWS
version_added: 0.1.0
description:
  - Creates a file system, a mount target in each zone that has nodes, and a security group that allows NFS from the
    network of the nodes. They have the tag of resources that the cluster owns, so that the destruction of the cluster
    deletes them.
  - V(absent) deletes the file system and its content.
author: The psap.perf developers (@openshift-psap)
requirements: [boto3]
options:
  state:
    description: Whether to create or to delete it.
    type: str
    choices: [present, absent]
    default: present
  region:
    description: Region of AWS; by default the region of the cluster.
    type: str
    default: ""
  credentials:
    description: A reference to credentials in the format of the program C(aws); empty for those that boto3 finds.
    type: str
    default: ""
  endpoint:
    description: Address of the API; empty for AWS.
    type: str
    default: ""
  timeout:
    description: Timeout of each step, in seconds or as V(5m).
    type: str
    default: 5m
"""

EXAMPLES = r"""
- name: Create the file system
  psap.perf.clusters.efs:
"""

RETURN = r"""
file_system:
  description: Its ID; empty if it is missing.
  type: str
  returned: success
security_group:
  description: ID of the security group.
  type: str
  returned: if it exists
mount_targets:
  description: IDs of the mount targets.
  type: list
  elements: str
  returned: if it exists
"""
