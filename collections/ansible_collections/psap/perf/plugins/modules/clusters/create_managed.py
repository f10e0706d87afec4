# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: create_managed
short_description: Create a managed cluster by OpenShift Cluster Manager
version_added: 0.1.0
description:
  - Notes the cluster in its record, asks OpenShift Cluster Manager (OCM) for OpenShift Dedicated in an AWS account, and
    waits until it is ready. Writes its kubeconfig and the password to the folder of the record, for its owner alone.
  - What was asked for already is found by its name and by whose it is. One that is gone is created anew.
author: The psap.perf developers (@openshift-psap)
extends_documentation_fragment: [psap.perf.cluster_record, psap.perf.cluster_begun, psap.perf.cluster_manager]
options:
  account:
    description: Number of the AWS account.
    type: str
    required: true
  credentials:
    description: Reference to the keys of its user C(osdCcsAdmin), as the program C(aws) keeps them.
    type: str
    required: true
  region:
    description: Region of AWS.
    type: str
    default: us-east-1
  release:
    description: Release of OpenShift, such as V(4.18.3); the newest that OCM offers if empty.
    type: str
    default: ""
  machine_type:
    description: Instance type of the workers.
    type: str
    default: m5.xlarge
  nodes:
    description: How many workers; the fewest that OCM accepts if 0. In several availability zones a multiple of three.
    type: int
    default: 0
  multi_az:
    description: Whether it is in several availability zones.
    type: bool
    default: false
  expires:
    description: Whether OCM deletes it when its time to live is over.
    type: bool
    default: true
  url:
    description: Where OCM is.
    type: str
    default: https://api.openshift.com
  sso_url:
    description: Where tokens are made of the offline token.
    type: str
    default: https://sso.redhat.com/auth/realms/redhat-external/protocol/openid-connect/token
"""

EXAMPLES = r"""
- name: Create a managed cluster
  psap.perf.clusters.create_managed:
    token: file:ocm-token
    account: "123456789012"
    credentials: file:aws
    timeout: 90m
"""

RETURN = r"""
cluster:
  description: The record, with C(kubeconfig), C(api), C(console), C(destruction) and all else.
  type: dict
  returned: success
record:
  description: Where it is.
  type: str
  returned: success
"""
