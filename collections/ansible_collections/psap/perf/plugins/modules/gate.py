# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: gate
short_description: Fail if an earlier stage failed
version_added: 0.1.0
description:
  - Fails if a task of an earlier play, or of another lane, failed in this attempt at the run.
  - Ansible drops a failed lane and continues with the other hosts; the next play would test an unprepared cluster.
    Every phase of a flow except capture and cleanup begins with this verb.
author: The psap.perf developers (@openshift-psap)
options: {}
"""

EXAMPLES = r"""
- name: Continue only if all earlier stages succeeded
  psap.perf.gate:
"""

RETURN = r"""#"""
