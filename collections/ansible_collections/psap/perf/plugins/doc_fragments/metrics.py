# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations


class ModuleDocFragment:
    """What is scraped of the control plane while workloads are recorded."""

    DOCUMENTATION = r"""
options:
  metrics:
    description: What is scraped of the control plane's own metrics, before, during and after.
    type: dict
    suboptions:
      interval:
        description: Time between two scrapes, in seconds or like V(10s); V(0s) scrapes nothing.
        type: str
        default: 0s
      endpoints:
        description:
          - URLs of C(kube-scheduler), C(kube-controller-manager) and C(etcd). The API server is asked through the
            connection that there is; a lab tells its own.
        type: dict
        default: {}
"""
