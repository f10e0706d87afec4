# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: operator_example
short_description: Read an example (alm-examples) of an installed operator
version_added: 0.1.0
description:
  - They stand in the annotation C(alm-examples) of its ClusterServiceVersion.
  - In check mode a ClusterServiceVersion that is not there is taken for one that an earlier task is to install.
author: The psap.perf developers
options:
  csv:
    description: Name of the ClusterServiceVersion.
    type: str
    required: true
  namespace:
    description: Where the operator is installed.
    type: str
    required: true
  which:
    description: V(true) for the first example, a number for another one, counted from 0, or a kind.
    type: raw
    required: true
"""

EXAMPLES = r"""
- name: Read the example
  psap.perf.openshift.operator_example:
    csv: nfd.4.18.0-202509100210
    namespace: openshift-nfd
    which: NodeFeatureDiscovery
  register: __cluster_deploy_operator_example
"""

RETURN = r"""
definition:
  description: The example without a namespace, or nothing in check mode when the operator is not there.
  type: list
  elements: dict
  returned: success
"""
