# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: wait
short_description: Wait until a PromQL query returns series
version_added: 0.1.0
description:
  - Asks each query over and over, on one clock, until each gives as many series as it should. It changes nothing.
author: The psap.perf developers (@openshift-psap)
extends_documentation_fragment: [psap.perf.prometheus]
options:
  series:
    description: What is awaited.
    type: list
    elements: dict
    required: true
    suboptions:
      what:
        description: What it is, for the error when it does not come.
        type: str
        required: true
      query:
        description: A query that gives a series for each of what is there, such as V(up{job="dcgm"} == 1).
        type: str
        required: true
      count:
        description: How many there must be at least.
        type: int
        default: 1
  timeout:
    description: How long to wait, as seconds or like V(90s); V(0) asks once.
    type: str
    required: true
"""

EXAMPLES = r"""
- name: Wait until Prometheus reads the exporter
  psap.perf.prometheus.wait:
    series:
      - {what: DCGM exporters, query: 'up{job="nvidia-dcgm-exporter"} == 1', count: 4}
    timeout: 5m
"""

RETURN = r"""
series:
  description: C(what) and the C(labels) of each series that it gave.
  type: list
  elements: dict
  returned: success
"""
