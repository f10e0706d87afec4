# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: query
short_description: Run the PromQL queries of a file over a time range
version_added: 0.1.0
description:
  - A file for each query, named after it, with Prometheus' own answer, and C(prometheus_queries.yml), which lists them
    with the window, the step, and what failed or found nothing.
  - A query that is the name of a metric, with or without labels, gives the samples as they were scraped. All others are
    computed at every step.
  - What Prometheus refuses is asked of the others all the same; then the task fails with exit code 5.
author: The psap.perf developers (@openshift-psap)
extends_documentation_fragment: [psap.perf.prometheus]
options:
  file:
    description: The file of queries; see C(docs/prometheus.md).
    type: path
    required: true
  folder:
    description: Where the answers go; C(artifacts/) of the command if empty. It is made when missing.
    type: path
    default: ""
  namespace:
    description: What C($NAMESPACE) in queries stands for.
    type: str
    default: ""
  duration_s:
    description: Length of the window in seconds, up to the newest scrape; instead of O(start_ts) and O(end_ts).
    type: float
    default: 0
  start_ts:
    description: Begin of the window, in seconds since the epoch.
    type: float
  end_ts:
    description: End of the window, in seconds since the epoch; now if not given.
    type: float
  step:
    description: Time between two points of what is computed, as seconds or like V(15s); V(0) for a three hundredth of
      the window, in whole seconds and one at least.
    type: str
    default: "0"
  timeout:
    description:
      - How long to wait until every target was scraped after the window's end, as seconds or like V(90s).
      - When that does not come it is a warning.
    type: str
    default: 2m
"""

EXAMPLES = r"""
- name: Ask for the last ten minutes
  psap.perf.prometheus.query:
    file: "{{ role_path }}/files/metrics.txt"
    duration_s: 600
"""

RETURN = r"""
folder:
  description: Where the answers are.
  type: str
  returned: success
files:
  description: Their names.
  type: list
  elements: str
  returned: always
empty:
  description: Names of the queries that found no series.
  type: list
  elements: str
  returned: always
failed_queries:
  description: The error of each query that Prometheus refused, by the query's name.
  type: dict
  returned: always
window:
  description: The window's C(start_s) and C(end_s).
  type: dict
  returned: success
"""
