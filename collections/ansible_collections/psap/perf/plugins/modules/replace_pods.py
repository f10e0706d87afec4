# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: replace_pods
short_description: Delete pods and wait for ready replacements
version_added: 0.1.0
description:
  - Fails when there is none. Pods of a StatefulSet keep their names; it is their uids that must change.
author: The psap.perf developers
options:
  namespace:
    description: Where they are.
    type: str
    required: true
  label_selector:
    description: Which pods, as kubectl's C(-l).
    type: str
    required: true
  timeout:
    description: How long to wait, as seconds or like V(90s).
    type: str
    required: true
"""

EXAMPLES = r"""
- name: Replace the pods of Prometheus
  psap.perf.replace_pods:
    namespace: openshift-monitoring
    label_selector: app.kubernetes.io/component=prometheus
    timeout: 5m
"""

RETURN = r"""
replaced:
  description: Names of the pods that were deleted.
  type: list
  elements: str
  returned: success
"""
