# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: gate
short_description: Fail when an earlier stage failed
version_added: 0.1.0
description:
  - Fails when a task of an earlier play, or of another lane, failed in this attempt at the run.
  - Ansible drops a failed lane and goes on with the other hosts; the next play would test an unprepared cluster.
    Every phase of a flow but capture and cleanup begins with this.
author: The psap.perf developers (@openshift-psap)
options: {}
"""

EXAMPLES = r"""
- name: Go on only when all that came before went well
  psap.perf.gate:
"""

RETURN = r"""#"""
