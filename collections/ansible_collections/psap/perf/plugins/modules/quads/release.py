# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: release
short_description: Release hosts of QUADS
version_added: 0.1.0
description:
  - Ends every active assignment with the mark and the owner, and no other one. If none exists, it changes nothing.
  - A run records its booking before the first request; without such a record, no request is sent.
author: The psap.perf developers (@openshift-psap)
options:
  url:
    description:
      - Address of the QUADS server, with a path before C(/api/v3) if it has one.
      - If empty, the server of this run's booking.
    type: str
    default: ""
  authority:
    description: PEM file of CA certificates for the server, in addition to those of the system.
    type: str
    default: ""
  patience:
    description: Time for which reads are repeated while the server does not answer, in seconds or as V(2m).
    type: str
    default: 2m
  mark:
    description:
      - Text at the end of the description that identifies the booking. Without a slash, it is prefixed with the ID of
        this run and a slash; with a slash, it is used unchanged, such as the mark of another run's booking.
    type: str
    default: cluster
  user:
    description: Email address of the account; the part before the @ is the name of the owner.
    type: str
    default: ""
  password:
    description: Reference to the secret with its password, such as V(file:NAME).
    type: str
    default: ""
  token:
    description: Reference to the secret with an API token (C(qat_…)), instead of a password.
    type: str
    default: ""
  admin:
    description: The account is an administrator's; servers without self-scheduling need one.
    type: bool
    default: false
  utc_offset:
    description:
      - Offset of the server's clock from UTC, such as V(-05:00). With self-scheduling, it is determined when a host is
        added.
    type: str
    default: ""
  unfinished:
    description: Release only the bookings that this run began and did not complete, with any mark.
    type: bool
    default: false
"""

EXAMPLES = r"""
- name: Release the run's hosts
  psap.perf.quads.release:
"""

RETURN = r"""
released:
  description: The assignments that were ended, with C(cloud) and C(assignment).
  type: list
  elements: dict
  returned: success
"""
