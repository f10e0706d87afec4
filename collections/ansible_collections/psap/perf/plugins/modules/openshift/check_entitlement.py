# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: check_entitlement
short_description: Check that a PEM is an entitlement
version_added: 0.1.0
description:
  - Fails unless the PEM contains a certificate that is valid now, and its private key. No server is contacted.
author: The psap.perf developers (@openshift-psap)
requirements: [cryptography]
options:
  pem:
    description: A reference to the PEM, such as V(file:NAME).
    type: str
    required: true
  ca:
    description: A reference to the certificates of an authority, which must be valid; empty for none.
    type: str
    default: ""
"""

EXAMPLES = r"""
- name: Check the entitlement
  psap.perf.openshift.check_entitlement:
    pem: file:entitlement.pem
"""

RETURN = r"""
expires:
  description: When the entitlement expires.
  type: str
  returned: success
"""
