# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations


class ModuleDocFragment:
    """Which cell of the matrix a verb is about."""

    DOCUMENTATION = r"""
options:
  cell:
    description: The cell, as M(psap.perf.settings) lists it.
    type: dict
    required: true
"""
