# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: profiles_end
short_description: Wait for the profiles that are fetched in the background
version_added: 0.1.0
description:
  - Waits until the process that M(psap.perf.profile) started has written C(artifacts/profiles.json), then fails if a
    profile is missing.
author: The psap.perf developers (@openshift-psap)
options:
  directory:
    description: The directory of the command, as M(psap.perf.profile) returned it.
    type: str
    required: true
  timeout:
    description: How long to wait, in seconds or as a duration such as V(90s).
    type: str
    required: true
"""

EXAMPLES = r"""
- name: Wait for the profiles of the window
  psap.perf.profiles_end:
    directory: "{{ perf_profiles.directory }}"
    timeout: 2m
"""

RETURN = r"""
profiles:
  description: As of M(psap.perf.profile).
  type: list
  elements: dict
  returned: always
"""
