# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: result
short_description: Return the result of the run
version_added: 0.1.0
description:
  - The result of a run for the AWX workflow that it is a job of, after it was concluded and exported.
author: The psap.perf developers (@openshift-psap)
options:
  endpoint:
    description: URL of the store with the exported run; empty for AWS.
    type: str
    default: ""
  region:
    description: Region of the bucket.
    type: str
    default: ""
"""

EXAMPLES = r"""
- name: Collect the result
  psap.perf.result:
  register: result

- name: Pass the result on to the workflow
  ansible.builtin.set_stats:
    data: "{{ result.stats }}"
    per_host: false
"""

RETURN = r"""
stats:
  description:
    - One variable, C(perf_result_run), or C(perf_result_prepare), C(perf_result_test), C(perf_result_cleanup) for a run
      with only these tags, so that jobs of one workflow do not overwrite each other's.
    - It has C(run), C(flow), C(verdict) (V(ok), V(failed), V(refused) or V(interrupted)), C(exit_code), C(reason),
      C(export) (the place of the complete export) and C(report_url) (its index page). Both are empty without one.
  type: dict
  returned: success
"""
