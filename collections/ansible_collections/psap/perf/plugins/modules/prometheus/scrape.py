# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: scrape
short_description: Save the metrics of the targets of a ServiceMonitor or PodMonitor
version_added: 0.1.0
description:
  - Scrapes each target once, like Prometheus, and keeps its page as C(artifacts/metrics/<pod>_<port>.txt), with the
    path if it is not C(/metrics). C(artifacts/metrics_targets.yml) lists the targets, with errors.
  - Targets are accessed by a port-forward through the API server, which needs no further pod, with the monitor's
    credentials; certificates are verified if an object has the monitor's authority.
  - If a target does not respond, or there are no targets, it fails after it has scraped all others.
  - Its arguments are its command's, see
    C(ansible-doc --type role psap.perf.cluster_capture_servicemonitor_metrics).
author: The psap.perf developers (@openshift-psap)
"""

EXAMPLES = r"""
- name: Scrape the monitor's targets
  psap.perf.prometheus.scrape:
"""

RETURN = r"""
targets:
  description: The place of each target, and its C(file) and C(samples), or its C(error).
  type: list
  elements: dict
  returned: always
"""
