# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: addon
short_description: Install an add-on of a managed OpenShift cluster
version_added: 0.1.0
description:
  - Requests the add-on from OpenShift Cluster Manager (OCM) unless it is installed, and waits until OCM reports that it
    is ready or has failed.
  - In check mode it reports whether it would be installed.
  - Its other arguments are those of its command, see C(ansible-doc --type role psap.perf.rhods_deploy_addon).
author: The psap.perf developers (@openshift-psap)
options:
  addon:
    description: Id of the add-on, such as V(managed-odh).
    type: str
    required: true
  parameters:
    description: Parameters of the add-on, by their ids. An installed add-on keeps its parameters.
    type: dict
    default: {}
"""

EXAMPLES = r"""
- name: Install OpenShift AI
  psap.perf.openshift.addon:
    addon: managed-odh
    parameters: {notification-email: perf@example.com}
"""

RETURN = r"""
state:
  description: The state that OCM reports; empty in check mode if the add-on is not installed.
  type: str
  returned: success
csv:
  description: The ClusterServiceVersion of its operator, if OCM reports one.
  type: str
  returned: success
namespace:
  description: Namespace of its operator.
  type: str
  returned: success
"""
