# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: rhoai_release
short_description: Find the release of OpenShift AI that a cluster has or gets
version_added: 0.1.0
description:
  - Reads the version of OpenShift AI, or of Open Data Hub, from the Subscription that installed it. Without such a
    Subscription, the version follows from the catalog and the settings if the product is installed later.
  - Fails before anything is installed if the release does not meet the needs of a flow.
  - A cluster without Operator Lifecycle Manager has no release and is not refused; neither is a release of unknown
    version.
author: The psap.perf developers (@openshift-psap)
options:
  prepares:
    description: The product will be installed if it is missing.
    type: bool
    default: true
  opendatahub:
    description: Open Data Hub will be installed instead.
    type: bool
    default: false
  channel:
    description: Channel of the operator; empty for the package's default.
    type: str
    default: ""
  version:
    description: Version of the operator; empty for the channel's newest.
    type: str
    default: ""
  tag:
    description: Tag of the image of another catalog; empty for the cluster's catalogs.
    type: str
    default: ""
  generations:
    description: The generations that are supported, V(2) or V(3) or both; empty for all.
    type: list
    elements: int
    default: []
  reason:
    description: Why no other generation is supported, a clause that follows I(since).
    type: str
    default: ""
  components:
    description: The components that the release must have.
    type: list
    elements: str
    default: []
"""

EXAMPLES = r"""
- name: Find the release
  psap.perf.openshift.rhoai_release:
    channel: stable-3.x
    components: [kserve]
  register: release
"""

RETURN = r"""
generation:
  description: The first number of the version; 0 if the version is unknown, or nothing is installed.
  type: int
  returned: success
version:
  description: The version, such as V(3.4.1); empty if it is unknown.
  type: str
  returned: success
run_facts:
  description: Facts for C(run.json).
  type: dict
  returned: when the version is known
"""
