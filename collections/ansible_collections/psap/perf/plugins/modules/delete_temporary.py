# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: delete_temporary
short_description: Delete the objects of killed commands of this run
version_added: 0.1.0
description:
  - Deletes the temporary objects of this run's commands, which have the label C(psap.perf/temporary), and waits until
    they and their dependents are gone. A command that is not killed deletes its own.
  - Searches for the kinds, in the namespaces, of the manifests in the C(src/) folders of the run.
author: The psap.perf developers (@openshift-psap)
options:
  timeout:
    description: How long to wait until the objects are gone, in seconds or like V(2m).
    type: str
    default: 2m
"""

EXAMPLES = r"""
- name: Delete objects of killed commands
  psap.perf.delete_temporary:
"""

RETURN = r"""
objects:
  description: The deleted objects, for example C(DaemonSet default/preload).
  type: list
  elements: str
  returned: success
"""
