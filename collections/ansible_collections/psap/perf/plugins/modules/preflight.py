# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: preflight
short_description: Check that the cluster is reachable and meets the requirements
version_added: 0.1.0
description:
  - Runs before anything is touched, and keeps in C(run.json) which cluster it is, and what of a lab is real, emulated
    and simulated.
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
          - A known kind with which it is not required, such as V(Subscription) where Operator Lifecycle Manager
            installs what brings it.
        type: str
      served:
        description: A known kind without which it is not required, such as V(DataScienceCluster).
        type: str
      advice:
        description: What users can do when it is missing.
        type: str
        default: install what defines it
  rights:
    description:
      - What the user must be allowed. All that is lacking is told at once. Kinds that the cluster does not serve need
        no rights.
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
          - Name of the one kind in URLs, such as V(clusterpolicies). It holds also where the kind is not served yet.
          - Or that of a subresource, such as V(pods/exec).
        type: str
      verbs:
        description: Verbs of Kubernetes, such as V(create).
        type: list
        elements: str
      namespaces:
        description: In which namespaces; in all of them if none is given.
        type: list
        elements: str
      absent:
        description: Whether the right is needed only for those of the namespaces that are not there.
        type: bool
        default: false
      served:
        description: The rule holds only where the cluster serves these kinds.
        type: list
        elements: str
      unless:
        description: The rule holds only where there are no such objects, as far as the user may list them.
        type: list
        elements: dict
        suboptions:
          kind:
            description: Their kind.
            type: str
            required: true
          namespace:
            description: Where they are.
            type: str
          name:
            description: Only the one of this name.
            type: str
          label_selector:
            description: Only those with these labels.
            type: str
          packages:
            description: Only those whose C(spec.name) is one of these, as that of Subscriptions is.
            type: list
            elements: str
      when:
        description: Whether the rule holds.
        type: bool
        default: true
  lease:
    description:
      - Take the cluster's Lease, so that no other run changes the cluster meanwhile; for the flow in C(perf_flow).
      - C(clusters_lock) says what happens when another run has it.
    type: bool
    default: false
  secrets:
    description: References of secrets that must be there, such as V(file:NAME).
    type: list
    elements: str
    default: []
"""

EXAMPLES = r"""
- name: Look at the cluster
  psap.perf.preflight:
    requires:
      - {kind: PyTorchJob}
"""

RETURN = r"""
run_facts:
  description: Goes to C(run.json).
  type: dict
  returned: success
run_lease:
  description: What the callback needs to keep the lease.
  type: dict
  returned: when the lease was taken
openshift:
  description: Whether the cluster is an OpenShift.
  type: bool
  returned: success
"""
