# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: scrape
short_description: Save what the targets of a ServiceMonitor or PodMonitor answer
version_added: 0.1.0
description:
  - Scrapes each target once, as Prometheus would, and keeps its page as C(artifacts/metrics/<pod>_<port>.txt), with the
    path where it is not C(/metrics). C(artifacts/metrics_targets.yml) lists them, and what went wrong.
  - Targets are reached by a port-forward through the API server, so that no pod of ours is needed, and credentials that
    the monitor names are shown to them; certificates are verified where the monitor names the authority in an object.
  - If a target does not answer, or there is none, it fails, after it has scraped all others.
  - Its arguments are those of its command, see
    C(ansible-doc --type role psap.perf.cluster_capture_servicemonitor_metrics).
author: The psap.perf developers (@openshift-psap)
"""

EXAMPLES = r"""
- name: Scrape the monitor's targets
  psap.perf.prometheus.scrape:
"""

RETURN = r"""
targets:
  description: Of each target where it is, and its C(file) and C(samples), or its C(error).
  type: list
  elements: dict
  returned: always
"""
