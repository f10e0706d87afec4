# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations


class ModuleDocFragment:
    """The cell of the matrix that a verb acts on."""

    DOCUMENTATION = r"""
options:
  cell:
    description: The cell, an entry of C(cells) of M(psap.perf.settings).
    type: dict
    required: true
"""
