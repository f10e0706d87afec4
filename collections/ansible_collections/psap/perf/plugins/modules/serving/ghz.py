# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: ghz
short_description: Fetch the results of ghz from the pod of a Job
version_added: 0.1.0
description:
  - Keeps the results for the analysis (C(ghz.json)) below C(artifacts/) of the command. Fetches them by exec.
  - It does not change the cluster.
author: The psap.perf developers (@openshift-psap)
options:
  namespace:
    description: Namespace of the pod.
    type: str
    required: true
  pod_selector:
    description: The label of the Job's pod, whose container C(results) has them.
    type: str
    required: true
  folder:
    description: The folder below C(artifacts/) for the results; empty for C(artifacts/) itself.
    type: str
    default: ""
  complete:
    description:
      - Whether each call must have succeeded; otherwise the verb fails only if all failed. Such calls are a warm-up and
        not a measurement, so the results are C(warm_up.json), which the analysis does not read.
    type: bool
    default: false
"""

EXAMPLES = r"""
- name: Fetch the results
  psap.perf.serving.ghz:
    namespace: wisdom
    pod_selector: psap.perf/wisdom=wisdom-warmup
"""

RETURN = r"""
requests:
  description: Number of calls that ended.
  type: int
  returned: success
requests_failed:
  description: How many of them failed.
  type: int
  returned: success
"""
