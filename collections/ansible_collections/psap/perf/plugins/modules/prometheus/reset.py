# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: reset
short_description: Reset the Prometheus database by its admin API
version_added: 0.1.0
description:
  - Deletes all series and frees their space, then waits until every target was scraped again.
  - Its arguments are its command's, see C(ansible-doc --type role psap.perf.cluster_reset_prometheus_db).
author: The psap.perf developers (@openshift-psap)
"""

EXAMPLES = r"""
- name: Delete all series
  psap.perf.prometheus.reset:
"""

RETURN = r"""
url:
  description: The address of the Prometheus.
  type: str
  returned: success
scraped:
  description: Whether every target was scraped again.
  type: bool
  returned: success
"""
