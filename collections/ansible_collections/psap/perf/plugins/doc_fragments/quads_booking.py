# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations


class ModuleDocFragment:
    """Which booking a verb is about, and whose."""

    DOCUMENTATION = r"""
options:
  mark:
    description:
      - What its description ends with, by which it is found again. Without a slash it is the run's own, and follows
        the run's ID and a slash; with one it is taken as it is, such as the mark of another run's booking.
    type: str
    default: cluster
  user:
    description: Email address of the account; what stands before the @ is the owner's name.
    type: str
    default: ""
  password:
    description: Reference of a secret with its password, as V(file:NAME).
    type: str
    default: ""
  token:
    description: Reference of a secret with an API token (C(qat_…)), in place of a password.
    type: str
    default: ""
  admin:
    description: Whether the account is an administrator's; servers without self-scheduling need one.
    type: bool
    default: false
  utc_offset:
    description:
      - How far the server's clock is from UTC, as V(-05:00). Of a server with self-scheduling it is learned when a host
        is added.
    type: str
    default: ""
"""
