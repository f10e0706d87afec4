# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations


class ModuleDocFragment:
    """What is said of a cluster that is begun."""

    DOCUMENTATION = r"""
options:
  name:
    description: Its name; from O(prefix), the host and the run if empty.
    type: str
    default: ""
  prefix:
    description: The beginning of its name.
    type: str
    default: perf
  owner:
    description: Who has it; the user who runs Ansible if empty.
    type: str
    default: ""
  time_to_live:
    description: How long it may live, in seconds or as V(12h).
    type: str
    default: 12h
  tags:
    description: Tags of it and of what it is made of.
    type: dict
    default: {}
  folder:
    description:
      - Folder below which it gets one for its kubeconfig and other files of its own; if empty, E(PERF_CLUSTERS_DIR),
        else C(psap-perf/clusters) of E(XDG_STATE_HOME).
    type: path
    default: ""
"""
