# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: preflight
short_description: Check that the cluster is reachable and meets the requirements
version_added: 0.1.0
description:
  - Runs before anything is changed, and records in C(run.json) the cluster and the real, emulated and simulated parts
    of a lab.
author: The psap.perf developers (@openshift-psap)
options:
  requires:
    description: Kinds that the cluster must serve.
    type: list
    elements: dict
    default: []
    suboptions:
      kind:
        description: The kind.
        type: str
        required: true
      api_version:
        description: Its API group, whose version the server chooses, or group and version; known kinds need none.
        type: str
      unless:
        description:
          - A known kind with which it is not required, such as V(Subscription), with which Operator Lifecycle Manager
            can install it.
        type: str
      served:
        description: A known kind without which it is not required, such as V(DataScienceCluster).
        type: str
      advice:
        description: What users can do if it is missing.
        type: str
        default: install what defines it
  rights:
    description:
      - The rights that the user must have. All missing rights are reported together. Kinds that the cluster does not
        serve need no rights.
    type: list
    elements: dict
    default: []
    suboptions:
      role:
        description: The rules in C(meta/rights.yml) of this role of the collection, instead of O(rights[].kinds).
        type: str
      kinds:
        description: The kinds.
        type: list
        elements: str
      api_version:
        description: Their API group, whose version the server chooses, or group and version; known kinds need none.
        type: str
      resource:
        description:
          - Name of the kind in URLs, such as V(clusterpolicies), which also applies if the kind is not served yet.
          - Or the name of a subresource, such as V(pods/exec).
        type: str
      verbs:
        description: Verbs of Kubernetes, such as V(create).
        type: list
        elements: str
      namespaces:
        description: The namespaces; all of them if none is given.
        type: list
        elements: str
      absent:
        description: Whether the right is needed only for missing namespaces.
        type: bool
        default: false
      served:
        description: The rule applies only if the cluster serves these kinds.
        type: list
        elements: str
      unless:
        description: The rule applies only if no such objects exist that the user can list.
        type: list
        elements: dict
        suboptions:
          kind:
            description: Their kind.
            type: str
            required: true
          namespace:
            description: Their namespace.
            type: str
          name:
            description: Name of the object.
            type: str
          label_selector:
            description: Their labels.
            type: str
          packages:
            description: Only objects whose C(spec.name) is one of these, such as Subscriptions.
            type: list
            elements: str
      when:
        description: Whether the rule applies.
        type: bool
        default: true
  lease:
    description:
      - Acquire the cluster's Lease, so that no other run changes the cluster meanwhile; for the flow in C(perf_flow).
      - C(clusters_lock) determines what happens if another run has it.
    type: bool
    default: false
  secrets:
    description: References of secrets that must exist, such as V(file:NAME).
    type: list
    elements: str
    default: []
"""

EXAMPLES = r"""
- name: Check the cluster
  psap.perf.preflight:
    requires:
      - {kind: PyTorchJob}
"""

RETURN = r"""
run_facts:
  description: Facts for C(run.json).
  type: dict
  returned: success
run_lease:
  description: Data with which the callback renews the Lease.
  type: dict
  returned: when the lease was taken
openshift:
  description: Whether the cluster is OpenShift.
  type: bool
  returned: success
"""
