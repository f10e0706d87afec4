# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: wait
short_description: Wait until a PromQL query returns series
version_added: 0.1.0
description:
  - Repeats the queries until each returns enough series, or the time is up. It changes nothing.
  - Its arguments are its command's, see C(ansible-doc --type role psap.perf.gpu_operator_wait_deployment).
author: The psap.perf developers (@openshift-psap)
options:
  series:
    description: The expected series.
    type: list
    elements: dict
    required: true
    suboptions:
      what:
        description: Their name in the error when the time is up.
        type: str
        required: true
      query:
        description: A query that returns a series for each object, such as V(up{job="dcgm"} == 1).
        type: str
        required: true
      count:
        description: Minimum number of series.
        type: int
        default: 1
"""

EXAMPLES = r"""
- name: Wait until Prometheus reads the exporter
  psap.perf.prometheus.wait:
    series:
      - {what: DCGM exporters, query: 'up{job="nvidia-dcgm-exporter"} == 1', count: 4}
"""

RETURN = r"""
series:
  description: C(what) and the C(labels) of each returned series.
  type: list
  elements: dict
  returned: success
"""
