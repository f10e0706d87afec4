#!/usr/bin/python
# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: undo
short_description: Undo what killed commands of this run left on a host
version_added: 0.1.0
description:
  - Undoes the steps of M(psap.perf.hosts.run) that were not undone, because the command or the host was killed.
  - Waits for processes of these steps that still run, and kills them by their ID after O(patience).
  - Undoes only steps with the same C(become) as this task. If no step is left, the host is not contacted.
author: The psap.perf developers (@openshift-psap)
options:
  patience:
    description: Time to wait for a running measurement, and for each program, in seconds or as V(2m).
    type: str
    default: 1m
  directory:
    description: Undo only the work in this directory of the host.
    type: path
  environment:
    description: Variables of the programs' environment; by default those of the measurement.
    type: dict
  left:
    description:
      - Programs, each a list of arguments, that print remaining objects; by default those of the measurement.
    type: list
    elements: raw
"""

EXAMPLES = r"""
- name: Undo what killed commands left on the host
  psap.perf.hosts.undo:
"""

RETURN = r"""
directories:
  description: The directories of the host whose steps were undone.
  type: list
  elements: str
  returned: success
"""

from pathlib import Path

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.psap.perf.plugins.module_utils.hosts import measuring, services
from ansible_collections.psap.perf.plugins.module_utils.hosts.programs import HostSideError


def main() -> None:
    """Run the module on the host."""
    kinds = {
        "patience": {"type": "str", "default": "1m"},
        "directory": {"type": "path"},
        "environment": {"type": "dict"},
        "left": {"type": "list", "elements": "raw"},
    }
    module = AnsibleModule(argument_spec=kinds)
    args = module.params
    patience_s = float(args["patience"])
    try:
        # a service that was being started does not end by itself
        services.end(Path(args["directory"]), patience_s)
        left = measuring.remove(args["directory"], args["environment"], args["left"], patience_s)
    except (HostSideError, OSError) as problem:
        module.fail_json(msg=f"{args['directory']}: {problem}")
    if left:
        module.fail_json(msg=left)
    module.exit_json(changed=True)


if __name__ == "__main__":
    main()
