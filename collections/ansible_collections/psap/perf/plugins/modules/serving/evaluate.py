# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: evaluate
short_description: Measure the accuracy of a served model with lm-evaluation-harness
version_added: 0.1.0
description:
  - Runs lm_eval on this machine, and keeps its results, its samples and its output (C(run.log)) below C(artifacts/) of
    the command, with C(evaluation.json) for each task.
  - The program is stopped on timeout and when the run is interrupted. It does not change the cluster.
  - Its arguments are its command's, see C(ansible-doc --type role psap.perf.serving_evaluate).
author: The psap.perf developers (@openshift-psap)
options: {}
"""

EXAMPLES = r"""
- name: Measure the accuracy
  psap.perf.serving.evaluate:
"""

RETURN = r"""
accuracy:
  description: The accuracy by task.
  type: dict
  returned: success
"""
