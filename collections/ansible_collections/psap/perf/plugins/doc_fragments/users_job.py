# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations


class ModuleDocFragment:
    """The Job whose pods are the users that a verb acts on."""

    DOCUMENTATION = r"""
options:
  job:
    description: Name of the Job.
    type: str
    required: true
  namespace:
    description: Its namespace.
    type: str
    required: true
"""
