# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: check_tasks
short_description: Check that lm-evaluation-harness is installed and has some tasks
version_added: 0.1.0
description:
  - Fails if lm_eval is not installed, or if it has no such task. It needs no model and changes nothing.
author: The psap.perf developers (@openshift-psap)
options:
  tasks:
    description: The names of the tasks.
    type: list
    elements: str
    required: true
  tasks_path:
    description: Directory with further tasks; none if empty.
    type: str
    default: ""
  program:
    description: Path of lm_eval; empty for the installed one.
    type: str
    default: ""
  timeout:
    description: Time limit, in seconds or as a duration such as V(90s).
    type: str
    default: 10m
"""

EXAMPLES = r"""
- name: Check that the tasks exist
  psap.perf.serving.check_tasks:
    tasks: [gsm8k]
"""

RETURN = r"""
"""
