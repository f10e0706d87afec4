# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: run
short_description: Run a program and save its output
version_added: 0.1.0
description:
  - Runs a program, without a shell, on the controller or over the connection of the host.
  - Its output goes to C(artifacts/<log>.log) of the command, with secrets replaced.
  - On the controller it ends with the task, however that ends, together with all that it started.
author: The psap.perf developers (@openshift-psap)
options:
  argv:
    description: The program and its arguments.
    type: list
    elements: str
    required: true
  log:
    description: Name of the log, without ending; the program's name if not given.
    type: str
  environment:
    description: Variables added to the environment.
    type: dict
    default: {}
  secret_environment:
    description: Variables added to the environment, each a reference to a secret, such as V(env:TOKEN).
    type: dict
    default: {}
  chdir:
    description: The working directory; the command's directory if not given.
    type: str
  stdin:
    description: What the program reads from its standard input.
    type: str
  timeout:
    description: How long it may take, as seconds or like V(10m).
    type: str
    default: 1h
  ok_exit_codes:
    description: Exit codes that are no failure.
    type: list
    elements: int
    default: [0]
  changed_exit_codes:
    description: Exit codes that mean that something was changed.
    type: list
    elements: int
    default: []
  on_host:
    description: Run it on the host of the task, over its connection, instead of on the controller.
    type: bool
    default: false
"""

EXAMPLES = r"""
- name: Read the version of the client
  psap.perf.run:
    argv: [kubectl, version, --client]
"""

RETURN = r"""
rc:
  description: The exit code.
  type: int
  returned: always
stdout:
  description: The last 4,000 characters of what it said.
  type: str
  returned: always
log:
  description: The file that holds all of it.
  type: str
  returned: always
duration_s:
  description: How long it took, in seconds.
  type: float
  returned: always
"""
