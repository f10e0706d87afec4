# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: wait
short_description: Wait until objects have reached a state
version_added: 0.1.0
description:
  - Follows the objects by a watch, on one clock, and ends as soon as the state is reached, or can no longer be reached.
  - On failure the last objects seen are written to C(artifacts/awaited.yml) of the command.
  - It fails early if the object's status excludes the state, or if a pod of a workload waits for an image that cannot
    be pulled or a container that cannot be created, or crashes repeatedly. For a MachineSet it fails if one of its
    machines failed.
  - While it waits, C(waiting.json) of the command has the state and the start of the wait.
  - In a play without a command neither file is written.
author: The psap.perf developers (@openshift-psap)
extends_documentation_fragment: [psap.perf.query]
options:
  field_selector:
    description: Field selector of the objects, in the format of kubectl's C(--field-selector).
    type: str
  conditions:
    description:
      - States that each object must have reached, all of them.
      - V(ready), V(completed), V(finished), V(present), V(absent), with a meaning by kind, or a JMESPath
        expression over the object that must be true.
      - For a Pod also V(scheduled), it has a node.
      - For a PyTorchJob also V(started), its main pod runs or has run; for a RayJob, it was submitted to its cluster.
      - For a Subscription V(resolved), OLM has resolved or installed its ClusterServiceVersion.
      - For a Node also V(features_found), Node Feature Discovery labelled it, V(nvidia_gpu_found), and
        V(nvidia_gpus_allocatable), as many GPUs can be allocated as its labels state.
      - For a MachineConfigPool V(ready) means that all its nodes have its configuration; a degraded or paused pool ends
        the wait. For a ClusterVersion V(accepted) means that the requested update has begun, V(ready) that it is
        complete.
      - For a DaemonSet also V(rolled_out), a pod is ready on every node that should have one, if there is such a node.
    type: list
    elements: str
    default: [ready]
  count:
    description: How many objects must have reached it; by default all, and at least one.
    type: int
  timeout:
    description: How long to wait, in seconds or like V(90s), V(1h30m); V(0) checks once.
    type: str
    required: true
  give_up_on:
    description: Reasons in a container's waiting state or a condition that end the wait immediately.
    type: list
    elements: str
    default: []
  stable_for:
    description:
      - How long the objects must have been in the state, by the newest time of their conditions, as V(5m).
    type: str
    default: "0"
  patience:
    description:
      - How long an object may be in a failed state before the wait fails, in seconds or like V(2m). For kinds that
        retry by themselves, such as ClusterServiceVersion.
    type: str
    default: "0"
"""

EXAMPLES = r"""
- name: Wait for the server
  psap.perf.wait:
    kind: Deployment
    name: redis
    namespace: "{{ server_deploy_redis_server_namespace }}"
    timeout: 5m
"""

RETURN = r"""
objects:
  description: The objects as last seen; only their names on failure, or if there are many.
  type: list
  elements: dict
  returned: always
waited_s:
  description: Duration of the wait in seconds.
  type: float
  returned: success
at:
  description: Time at which the state was seen, in UTC with milliseconds by the clock of the controller.
  type: str
  returned: success
"""
