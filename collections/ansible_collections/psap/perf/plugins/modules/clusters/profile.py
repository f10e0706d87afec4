# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: profile
short_description: Find out which preset the nodes of a cluster request
version_added: 0.1.0
description:
  - Recognizes a site's cluster by the names or labels of its nodes. C(perfdrv run) applies the preset; a run without it
    is refused.
author: The psap.perf developers (@openshift-psap)
options:
  profiles:
    description: Presets by the name of a node, or by a label as V(key=value).
    type: dict
    required: true
  applied:
    description: The applied presets, which must include the profile's; not checked if missing.
    type: list
    elements: str
"""

EXAMPLES = r"""
- name: Find the profile of the cluster
  psap.perf.clusters.profile:
    profiles: {dgx-1.example.com: dgx, nvidia.com/gpu.product=NVIDIA-H100-80GB-HBM3: h100}
"""

RETURN = r"""
preset:
  description: The preset; empty if no node requests one.
  type: str
  returned: success
node:
  description: The node that requests it.
  type: str
  returned: success
by:
  description: The name or label of the node that requests it.
  type: str
  returned: success
"""
