#!/usr/bin/python
# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: service
short_description: Start and stop a program that keeps running on a host
version_added: 0.1.0
description:
  - Starts a program on the host, over Ansible's connection and as the user of C(become), waits until it is ready, and
    leaves it running. No shell is involved, and no service manager is needed.
  - The program holds a lock in O(directory) as long as it runs, which identifies it. No other process is stopped, even
    if it has the same name.
  - If the same program already runs with the same environment and files, it is unchanged; if another one runs in
    O(directory), the command fails.
  - If it does not become ready, or the connection is lost, it is stopped and removed.
  - With O(unattended), it is stopped even if the run that uses it is killed.
  - The last 8 MiB of its output are an artifact of the command that stops it, or that fails to start it.
  - Over a connection C(local), it ends with the run that started it, like all processes of a run.
  - Needs Python 3.9 on the host, and does not support Windows.
author: The psap.perf developers (@openshift-psap)
options:
  state:
    description: Whether to start or to stop it.
    type: str
    choices: [started, stopped]
    default: started
  directory:
    description: Directory of the program, which is created, and removed when the program is stopped.
    type: path
    required: true
  words:
    description: Values of the words in braces in the lines, as for M(psap.perf.hosts.run).
    type: dict
    default: {}
  program:
    description: Line that runs in the foreground.
    type: raw
  environment:
    description: Variables of its environment.
    type: dict
    default: {}
  files:
    description: Texts by the names of files in O(directory), written before it starts.
    type: dict
    default: {}
  undo:
    description: Lines that remove the program's remains, such as a container, after it has ended.
    type: list
    elements: raw
    default: []
  url:
    description:
      - Address on the host that returns HTTP 200 when it is ready. No other program may listen there.
      - Without it, a program is ready when it has run for a second.
    type: str
  within:
    description: Time within which it must be ready, in seconds or as V(10m).
    type: str
    default: 10m
  patience:
    description: Time to end after a signal, before it is killed.
    type: str
    default: 10s
  attended_in:
    description:
      - Folder of the host in whose subfolders the measurements that use the program run, each in the directory of a
        M(psap.perf.hosts.run) or of a program that is being started.
      - Required with O(unattended).
    type: path
  unattended:
    description:
      - Time without such measurements after which the program is stopped and removed, in seconds or as V(2m).
      - Without it, the program runs until it is stopped.
    type: str
  log:
    description: Name of the artifact with its output.
    type: str
    default: service.log
"""

EXAMPLES = r"""
- name: Serve a model
  psap.perf.hosts.service:
    directory: /var/tmp/psap.perf/llama-server
    program: llama-server --port 8080 --model /models/tiny.gguf
    url: http://127.0.0.1:8080/health

- name: Stop serving it
  psap.perf.hosts.service:
    directory: /var/tmp/psap.perf/llama-server
    state: stopped
"""

RETURN = r"""
ready_s:
  description: Time until it was ready, by the host's monotonic clock.
  type: float
  returned: when it was started
ran:
  description: Whether it ran until it was stopped; otherwise, a warning is shown.
  type: bool
  returned: when it was stopped
"""

from typing import Any

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.psap.perf.plugins.module_utils.hosts import services
from ansible_collections.psap.perf.plugins.module_utils.hosts.listening import answer, listened


def perform(args: dict[str, Any]) -> dict[str, Any]:
    """Start or stop the service, and return the result; the action plugin has rendered the lines."""
    environment = {name: str(value) for name, value in args["environment"].items()}
    patience_s = float(args["patience"])
    if args["state"] == "stopped":
        return services.stop(args["directory"], environment, patience_s)
    service = services.Service(
        args["directory"],
        args["program"],
        environment,
        args["files"],
        args["undo"],
        args["url"],
        float(args["within"]),
        args["attended_in"] if args["unattended"] else None,
        float(args["unattended"] or 0),
    )
    return services.start(service, listened, patience_s)


def main() -> None:
    """Run the module on the host."""
    kinds = {
        "state": {"type": "str", "choices": ["started", "stopped"], "default": "started"},
        "directory": {"type": "path", "required": True},
        "words": {"type": "dict", "default": {}},
        "program": {"type": "raw"},
        "environment": {"type": "dict", "default": {}},
        "files": {"type": "dict", "default": {}},
        "undo": {"type": "list", "elements": "raw", "default": []},
        "url": {"type": "str"},
        "within": {"type": "str", "default": "10m"},
        "patience": {"type": "str", "default": "10s"},
        "attended_in": {"type": "path"},
        "unattended": {"type": "str"},
        "log": {"type": "str", "default": "service.log"},
    }
    module = AnsibleModule(argument_spec=kinds, required_by={"unattended": ["attended_in"]})
    answer(module, lambda: perform(module.params), changed=True)


if __name__ == "__main__":
    main()
