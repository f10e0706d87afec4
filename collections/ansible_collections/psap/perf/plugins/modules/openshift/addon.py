# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: addon
short_description: Install an add-on of a managed OpenShift cluster
version_added: 0.1.0
description:
  - Asks OpenShift Cluster Manager (OCM) for it by its API, unless it is there, and waits until OCM says that it is
    ready, or that it is not going to be.
  - In check mode it says whether it would be installed.
author: The psap.perf developers (@openshift-psap)
options:
  cluster:
    description: Name of the cluster in OCM.
    type: str
    required: true
  addon:
    description: Id of the add-on, such as V(managed-odh).
    type: str
    required: true
  parameters:
    description: Parameters of the add-on, by their ids. What is installed keeps its own.
    type: dict
    default: {}
  token:
    description: A reference to the user's offline token of OCM, such as V(file:ocm-token).
    type: str
    required: true
  until:
    description: Whether to wait until it is ready, or only until its installation has begun.
    type: str
    choices: [ready, installing]
    default: ready
  timeout:
    description: How long to wait, in seconds or like V(20m).
    type: str
    default: 20m
  url:
    description: Where OCM is.
    type: str
    default: https://api.openshift.com
  sso_url:
    description: Where OCM's users get their tokens.
    type: str
    default: https://sso.redhat.com/auth/realms/redhat-external/protocol/openid-connect/token
"""

EXAMPLES = r"""
- name: Install OpenShift AI
  psap.perf.openshift.addon:
    cluster: perf-1
    addon: managed-odh
    parameters: {notification-email: perf@example.com}
    token: file:ocm-token
"""

RETURN = r"""
state:
  description: What OCM says of it; empty in check mode when it is not there.
  type: str
  returned: success
csv:
  description: The ClusterServiceVersion of its operator, if OCM knows it.
  type: str
  returned: success
namespace:
  description: Where its operator is.
  type: str
  returned: success
"""
