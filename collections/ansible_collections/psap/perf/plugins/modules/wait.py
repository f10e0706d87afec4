# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: wait
short_description: Wait until objects have reached a state
version_added: 0.1.0
description:
  - Follows the objects by a watch, on one clock, and ends as soon as the state is reached, or cannot be any more.
  - On failure the last objects seen are written to C(artifacts/awaited.yml) of the command.
  - It gives up early when the object says that it cannot get there any more, or when a pod of a workload waits for an
    image that cannot be pulled, a container that cannot be made, or crashes over and over. A MachineSet is given up
    when one of its machines failed.
  - While it waits, C(waiting.json) of the command says for what and since when.
  - In a play without a command neither file is written.
author: The psap.perf developers (@openshift-psap)
extends_documentation_fragment: [psap.perf.query]
options:
  field_selector:
    description: Which objects, as kubectl's C(--field-selector).
    type: str
  conditions:
    description:
      - States that each object must have reached, all of them.
      - V(ready), V(completed), V(finished), V(present), V(absent), with the meaning that fits the kind, or a JMESPath
        expression over the object that must be true.
      - Of a Pod also V(scheduled), it has a node.
      - Of a PyTorchJob also V(started), its main pod runs or has run; of a RayJob, it was submitted to its cluster.
      - Of a Subscription V(resolved), OLM knows what to install or has installed it.
      - Of a Node also V(features_found), Node Feature Discovery labelled it, V(nvidia_gpu_found), and
        V(nvidia_gpus_allocatable), as many GPUs can be allocated as its labels announce.
      - Of a MachineConfigPool V(ready) is that all its nodes have all that is configured for it; a pool that is
        degraded or paused ends the wait. Of a ClusterVersion V(accepted) is that the update asked for has begun,
        V(ready) that it is complete.
      - Of a DaemonSet also V(rolled_out), a pod is ready on every node that should have one, if there is such a node.
    type: list
    elements: str
    default: [ready]
  count:
    description: How many objects must have reached it; if not given, all that there are and at least one.
    type: int
  timeout:
    description: How long to wait, as seconds or like V(90s), V(1h30m); V(0) looks once.
    type: str
    required: true
  give_up_on:
    description: Reasons, of a container's waiting state or a condition, that end the wait at once.
    type: list
    elements: str
    default: []
  stable_for:
    description:
      - How long the objects must have been so, by the newest time in their conditions, as seconds or like V(5m).
    type: str
    default: "0"
  patience:
    description:
      - How long an object may be in a state from which it cannot get there before the wait gives up, as seconds or like
        V(2m). For what is tried again by itself, such as a ClusterServiceVersion.
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
  description: The objects as they were last seen; only their names on failure, or when there are many.
  type: list
  elements: dict
  returned: always
waited_s:
  description: How long it took, in seconds.
  type: float
  returned: success
at:
  description: When that was seen, in UTC with milliseconds by the clock of the controller.
  type: str
  returned: success
"""
