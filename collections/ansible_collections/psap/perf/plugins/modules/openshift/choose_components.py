# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: choose_components
short_description: Choose the components of a DataScienceCluster
version_added: 0.1.0
description:
  - Reads which components this version has from the CustomResourceDefinition, and what the DataScienceCluster is now.
    Changes nothing; M(psap.perf.apply) takes the answer.
  - In check mode OpenShift AI need not be installed; then nothing is known of its components, and nothing refused.
author: The psap.perf developers
options:
  name:
    description: Name of the DataScienceCluster; empty for the one that there is, or else V(default-dsc).
    type: str
    default: ""
  enable:
    description: The components to have.
    type: list
    elements: str
    default: []
  others:
    description: Whether the components that are not named are removed, or left as they are.
    type: str
    choices: [removed, unchanged]
    default: removed
  extra_settings:
    description:
      - Values by dotted paths, such as V(spec.components.kserve.serving.managementState), put over that. V(Removed) for
        what this version does not have is left out.
    type: dict
    default: {}
"""

EXAMPLES = r"""
- name: Choose the components
  psap.perf.openshift.choose_components:
    enable: [dashboard, trainingoperator]
  register: __rhods_update_datasciencecluster_chosen
"""

RETURN = r"""
available:
  description: The components that this version has.
  type: list
  elements: str
  returned: success
definition:
  description: The DataScienceCluster as it is to be.
  type: dict
  returned: success
"""
