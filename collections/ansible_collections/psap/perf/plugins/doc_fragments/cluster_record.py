# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations


class ModuleDocFragment:
    """Which record of a cluster a verb is about."""

    DOCUMENTATION = r"""
options:
  record:
    description: Path of the record; that of O(host) in this run if empty.
    type: path
    default: ""
  host:
    description: The inventory host whose cluster it is, such as V(sutest) or V(driver).
    type: str
    default: sutest
"""
