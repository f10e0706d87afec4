# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: export
short_description: Export the run to an S3 store
version_added: 0.1.0
description:
  - The very last task of a flow. Sends the run directory to a folder of its name in an S3 store, each file with its
    SHA-256, then an index page, and last a manifest, which marks the export as complete.
  - A failed export is a warning, since it does not change the run's result; C(export) in C(run.json) has the reason,
    and ansible-playbook exits with 1, unless the run failed.
  - A driver that generates a report after Ansible's end exports the run itself, with the report; then this does
    nothing.
author: The psap.perf developers (@openshift-psap)
requirements:
  - boto3
options:
  to:
    description: Destination, as V(s3://BUCKET/PREFIX); empty for no export.
    type: str
    default: ""
  endpoint:
    description: URL of the store; empty for AWS.
    type: str
    default: ""
  region:
    description: Region of the bucket; empty for the default of boto3.
    type: str
    default: ""
  authority:
    description: PEM file of certificate authorities to trust instead of the system's.
    type: str
    default: ""
  credentials:
    description:
      - Reference to a secret with the credentials, a credentials file of the AWS CLI.
      - If empty, boto3 finds the credentials.
    type: str
    default: ""
  acl:
    description: Canned ACL of the objects; if empty, they are as private as their bucket.
    type: str
    default: ""
  retention:
    description: Duration after which the export may be deleted; empty for never.
    type: str
    default: ""
  tags:
    description: Further tags of the objects.
    type: dict
    default: {}
"""

EXAMPLES = r"""
- name: Export the run
  psap.perf.export:
    to: s3://artifacts/perf
    credentials: file:s3
    retention: 90d
"""

RETURN = r"""
run_facts:
  description: The fact about the export for C(run.json).
  type: dict
  returned: unless it was skipped
"""
