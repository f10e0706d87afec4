# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: plan
short_description: Check the plan of users that run in pods
version_added: 0.1.0
description:
  - Checks the arguments of users that run as the pods of an indexed Job, and returns the plan that the pods read from a
    ConfigMap.
author: The psap.perf developers (@openshift-psap)
extends_documentation_fragment: [psap.perf.users_job]
options:
  count:
    description: Number of users.
    type: int
    required: true
  ci_command:
    description: The command of every user, split into words as in a shell; no shell runs it.
    type: str
    required: true
  setup_command:
    description: A command that every user runs before the start; empty for none.
    type: str
    default: ""
  user_prefix:
    description: Prefix of the users' names; the index follows.
    type: str
    default: user-
  namespace_prefix:
    description: Prefix of the users' namespaces; the index follows. Empty if users have no namespaces.
    type: str
    default: ""
  seed:
    description: Seed of the first user; it increases by 1 for each further user.
    type: int
  batch_size:
    description: Number of users that start at the same instant.
    type: int
    default: 1
  batch_delay:
    description: Time between the starts of two batches.
    type: str
    default: "0"
  ready_within:
    description: How long the start waits for users that are not ready.
    type: str
    required: true
  timeout:
    description: How long the command may take after the start.
    type: str
    required: true
  abort_on_failure:
    description: Whether the first user that fails stops the others.
    type: bool
    default: false
  need_all_success:
    description: Whether all users must succeed. If false, one user is enough.
    type: bool
    default: false
  config_files:
    description: Files that the pods read from a ConfigMap.
    type: list
    elements: path
    default: []
  environment:
    description: Environment variables of the command.
    type: dict
    default: {}
  export:
    description: The bucket of an S3 store to which the pods send their files.
    type: dict
    suboptions:
      bucket:
        description: The bucket; empty for no export.
        type: str
        default: ""
      endpoint:
        description: Address of the store.
        type: str
        default: ""
      region:
        description: Region of the bucket.
        type: str
        default: ""
      prefix:
        description: Prefix of the files; empty for C(local-ci/JOB/RUN).
        type: str
        default: ""
      secret_name:
        description: Secret with the access keys.
        type: str
        default: ""
"""

EXAMPLES = r"""
- name: Check the plan
  psap.perf.users.plan:
    job: notebooks
    namespace: local-ci
    count: 50
    ci_command: perfdrv run notebooks
    ready_within: 10m
    timeout: 2h
"""

RETURN = r"""
text:
  description: The plan, as JSON.
  type: str
  returned: success
lasts_s:
  description: How long the Job may exist, in whole seconds, including the start and the transfer of artifacts.
  type: int
  returned: success
environment:
  description: The variables of O(environment), as in the specification of a container.
  type: list
  elements: dict
  returned: success
config:
  description: The content of each file of O(config_files), by its name.
  type: dict
  returned: success
"""
