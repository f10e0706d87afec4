# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: mark
short_description: Set labels and annotations of existing objects
version_added: 0.1.0
description:
  - Other labels and annotations stay as they are, whoever set them. What is already so is no change.
  - In check mode it says what would change.
author: The psap.perf developers (@openshift-psap)
extends_documentation_fragment: [psap.perf.query]
options:
  labels:
    description: Labels by their names; null takes one away.
    type: dict
    default: {}
  annotations:
    description: Annotations by their names; null takes one away.
    type: dict
    default: {}
"""

EXAMPLES = r"""
- name: Note what the claim holds
  psap.perf.mark:
    kind: PersistentVolumeClaim
    name: models
    namespace: fine-tuning
    labels: {data.psap.perf/granite: 3f9a}
"""

RETURN = r"""
marked:
  description: The names of the objects that changed.
  type: list
  elements: str
  returned: success
"""
