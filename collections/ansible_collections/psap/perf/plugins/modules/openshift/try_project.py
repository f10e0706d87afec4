# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: try_project
short_description: Create test projects until they have an annotation
version_added: 0.1.0
description:
  - OpenShift's API server follows its configuration only after it was rolled out anew, which takes minutes; a project
    that is made for a trial tells when. Each has a name of its own, C(psap-perf-trial-...), and is deleted at once.
  - In check mode nothing is made.
author: The psap.perf developers (@openshift-psap)
options:
  key:
    description: The annotation.
    type: str
    required: true
  value:
    description: The value that it must have; not given, it must not be there.
    type: str
  timeout:
    description: How long to try, as seconds or like V(10m).
    type: str
    required: true
"""

EXAMPLES = r"""
- name: Wait until new projects have it
  psap.perf.openshift.try_project:
    key: openshift.io/node-selector
    value: node-role.kubernetes.io/worker=
    timeout: 10m
"""

RETURN = r"""
trials:
  description: How many projects it took.
  type: int
  returned: success
"""
