# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: wait_project_template
short_description: Wait until new projects have the annotation of their template
version_added: 0.1.0
description:
  - OpenShift's API server reads its configuration only when it starts again, which takes minutes. The verb creates test
    projects until one has the annotation. Each is named C(psap-perf-trial-...) and is deleted immediately.
  - In check mode it creates nothing.
  - Its arguments are those of its command, see C(ansible-doc --type role psap.perf.cluster_set_project_annotation).
author: The psap.perf developers (@openshift-psap)
"""

EXAMPLES = r"""
- name: Wait until new projects have it
  psap.perf.openshift.wait_project_template:
"""

RETURN = r"""
trials:
  description: Number of created projects.
  type: int
  returned: success
"""
