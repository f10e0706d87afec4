# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: install
short_description: Create a cluster on AWS by openshift-install
version_added: 0.1.0
description:
  - Notes the cluster in its record, renders its install-config, has the program C(openshift-install) make manifests and
    ignition configs of it, notes by what the cluster is destroyed, and has it created. Its kubeconfig and the password
    of C(kubeadmin) stay in the folder of the record, for its owner alone.
  - Of a creation that was killed, what is there is destroyed first. A cluster that is created already stays as it is.
  - When it fails, the logs of the bootstrap machine are gathered; what the record names is destroyed by the verb
    M(psap.perf.clusters.uninstall).
author: The psap.perf developers (@openshift-psap)
extends_documentation_fragment: [psap.perf.cluster_record, psap.perf.cluster_begun, psap.perf.installer]
options:
  release:
    description: Release that the program must be of, such as V(4.18) or V(4.18.3); any if empty.
    type: str
    default: ""
  pull_secret:
    description: Reference to the pull secret, such as V(file:pull-secret.json).
    type: str
    required: true
  ssh_key_file:
    description: File with the public SSH key that reaches the machines; empty for none.
    type: path
    default: ""
  base_domain:
    description: Domain of which a public zone is in Route 53.
    type: str
    required: true
  region:
    description: Region of AWS.
    type: str
    required: true
  topology:
    description: Three masters, one and workers, or one machine.
    type: str
    choices: [cluster, light, single_node]
    default: cluster
  control_plane:
    description: Machines of the control plane, with C(type), C(disk_size) in GiB, C(disk_type), C(zones).
    type: dict
    suboptions: &machines
      type:
        description: Instance type; that of the installer if empty.
        type: str
        default: ""
      disk_size:
        description: Size of the root volume in GiB; that of the installer if 0.
        type: int
        default: 0
      disk_type:
        description: Type of the root volume, with its size only.
        type: str
        default: ""
      zones:
        description: Availability zones; all of the region if empty.
        type: list
        elements: str
        default: []
  workers:
    description: Workers, likewise.
    type: dict
    suboptions: *machines
  workers_count:
    description: How many workers.
    type: int
    default: 3
  spot:
    description: Workers are spot instances.
    type: bool
    default: false
  architecture:
    description: That of all machines.
    type: str
    choices: [amd64, arm64]
    default: amd64
  fips:
    description: Use cryptography that FIPS 140 validates.
    type: bool
    default: false
  publish:
    description: Whether the API and routes are reached from the internet.
    type: str
    choices: [External, Internal]
    default: External
  networks:
    description: Networks, as C(machines), C(pods), C(services), C(host_prefix), C(type).
    type: dict
    suboptions:
      machines:
        description: That of machines.
        type: str
        default: 10.0.0.0/16
      pods:
        description: That of pods.
        type: str
        default: 10.128.0.0/14
      host_prefix:
        description: Length of the prefix of a node's part of it.
        type: int
        default: 23
      services:
        description: That of services.
        type: str
        default: 172.30.0.0/16
      type:
        description: The network plugin.
        type: str
        default: OVNKubernetes
  subnets:
    description: IDs of subnets that there are.
    type: list
    elements: str
    default: []
  hosted_zone:
    description: ID of the private zone that there is.
    type: str
    default: ""
  propagate_tags:
    description: Operators tag what they create, too.
    type: bool
    default: true
"""

EXAMPLES = r"""
- name: Create a cluster
  psap.perf.clusters.install:
    pull_secret: file:pull-secret.json
    base_domain: perf.example.com
    region: us-east-2
    topology: light
    workers: {type: m6i.2xlarge}
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
