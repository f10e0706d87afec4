# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations


class ModuleDocFragment:
    """Which QUADS a verb is about."""

    DOCUMENTATION = r"""
options:
  url:
    description:
      - Address of the QUADS server, with the path that it may have before C(/api/v3).
      - If empty, that of the booking which this run has noted.
    type: str
    default: ""
  authority:
    description: PEM file of authorities that may sign the server's certificate beside those of the system.
    type: str
    default: ""
  patience:
    description: How long a read is repeated while the server does not answer, in seconds or as V(2m).
    type: str
    default: 2m
"""
