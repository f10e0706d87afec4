# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: query
short_description: Run the PromQL queries of a file over a time range
version_added: 0.1.0
description:
  - Writes a file for each query, named after it, with the answer of Prometheus, and C(prometheus_queries.yml), which
    lists them with the window, the step, and the queries that failed or found nothing.
  - A query that is the name of a metric, with or without labels, returns the samples as scraped. All others are
    computed at every step.
  - If Prometheus refuses a query, the others still run; then the task fails with exit code 5.
  - Its arguments are its command's, see C(ansible-doc --type role psap.perf.cluster_query_prometheus_db).
author: The psap.perf developers (@openshift-psap)
"""

EXAMPLES = r"""
- name: Run the queries
  psap.perf.prometheus.query:
"""

RETURN = r"""
folder:
  description: The folder of the answers.
  type: str
  returned: success
files:
  description: Their names.
  type: list
  elements: str
  returned: always
empty:
  description: Names of the queries without any series.
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
