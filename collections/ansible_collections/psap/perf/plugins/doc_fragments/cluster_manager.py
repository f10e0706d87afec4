# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations


class ModuleDocFragment:
    """How OpenShift Cluster Manager is reached."""

    DOCUMENTATION = r"""
options:
  token:
    description: Reference to the offline token of a user of OCM; that of the record if empty.
    type: str
    default: ""
  timeout:
    description: How long to wait, in seconds or as V(2h).
    type: str
    required: true
"""
