# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: measured
short_description: Find an earlier run with the same facts in the history
version_added: 0.1.0
description:
  - Decides whether a run has anything to measure, by the history in its setting C(history_source). The decision is
    recorded in C(run.json) and kept for all attempts at the run.
  - A run that only cleans up always does so. If the history cannot be read, the run measures, unless the setting
    C(history_required) is true.
author: The psap.perf developers (@openshift-psap)
options:
  facts:
    description:
      - Names of settings and facts, such as V(rhoai_catalog_tag), V(cluster.version) or V(rhoai). Nothing is decided if
        there are none.
    type: list
    elements: str
    default: []
"""

EXAMPLES = r"""
- name: Find an earlier run with the same facts
  psap.perf.measured:
    facts: [cluster.version, rhoai]
  register: perf_measured
"""

RETURN = r"""
known:
  description: Whether there is nothing to measure.
  type: bool
  returned: success
why:
  description: A sentence about the decision; empty if nothing was to be decided.
  type: str
  returned: success
run_facts:
  description: Facts for C(run.json).
  type: dict
  returned: when facts are given
"""
