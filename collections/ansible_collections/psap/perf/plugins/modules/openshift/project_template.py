# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: project_template
short_description: Compute the project request template
version_added: 0.1.0
description:
  - Reads the Template that OpenShift's configuration names, or else takes the one that OpenShift uses by itself, and
    puts an annotation on its Project, or takes it away. Changes nothing in the cluster.
  - Keeps the Template as it is, if there is one, in C(artifacts/base_project_template.yml).
author: The psap.perf developers
options:
  key:
    description: The annotation.
    type: str
    required: true
  value:
    description: Its value; not given, the annotation is taken away.
    type: str
"""

EXAMPLES = r"""
- name: Say how new projects are to be
  psap.perf.openshift.project_template:
    key: openshift.io/node-selector
    value: node-role.kubernetes.io/worker=
  register: __cluster_set_project_annotation_template
"""

RETURN = r"""
needed:
  description: Whether a Template must be there; without, OpenShift makes the same projects by itself.
  type: bool
  returned: success
own:
  description: Whether it is, or will be, one of this collection and not one of the cluster's administrators.
  type: bool
  returned: success
name:
  description: The Template's name, in C(openshift-config).
  type: str
  returned: success
definition:
  description: The Template as it is to be; empty when none is needed.
  type: dict
  returned: success
"""
