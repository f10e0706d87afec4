# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: release
short_description: Release hosts of QUADS
version_added: 0.1.0
description:
  - Ends every active assignment that has the mark and the owner, and no other one. Where there is none it changes
    nothing.
  - A booking of this run is noted before its first call; where none is noted, no server is asked.
author: The psap.perf developers (@openshift-psap)
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
  unfinished:
    description: Release only the bookings that this run began and did not complete, whatever their marks.
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
