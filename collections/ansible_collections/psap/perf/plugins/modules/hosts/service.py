#!/usr/bin/python
# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: service
short_description: Start a program that runs on, on a host, and stop it
version_added: 0.1.0
description:
  - Starts a program on the host that Ansible reaches, by its connection and as the user of C(become), waits until it is
    ready, and leaves it running. No shell is involved, and no service manager is needed.
  - The program holds a lock in O(directory) as long as it lives, by which it is found again. No other process is ever
    stopped, whatever its name.
  - One that runs already with the same program, environment and files is left unchanged; another one is refused.
  - If it does not become ready, or nobody listens any more, it is stopped, and nothing of it stays.
  - With O(unattended) it does not outlive the run that it is for, such as one that was killed.
  - What it writes, or the last 8 MiB of that, is an artifact of the command that stops it, or that fails to start it.
  - Over a connection C(local) it ends with the run that started it, as all processes of a run do.
  - Needs Python 3.9 on the host, so no Windows.
author: The psap.perf developers (@openshift-psap)
options:
  state:
    description: Whether it shall run.
    type: str
    choices: [started, stopped]
    default: started
  directory:
    description: The directory of the program, which is created and, when it is stopped, removed.
    type: path
    required: true
  words:
    description: What stands for the words in braces of the lines, as for M(psap.perf.hosts.run).
    type: dict
    default: {}
  program:
    description: The line that is run, in the foreground.
    type: raw
  environment:
    description: Variables of its environment.
    type: dict
    default: {}
  files:
    description: Texts by the names of files in O(directory), which are there before it starts.
    type: dict
    default: {}
  undo:
    description: Lines that remove what the program leaves, such as a container, run after it has ended.
    type: list
    elements: raw
    default: []
  url:
    description:
      - What answers HTTP with the code 200 when it is ready, asked on the host. Nothing else may listen there.
      - Without it a program is ready when it has run for a second.
    type: str
  within:
    description: How long it may take until it is ready, in seconds or like V(10m).
    type: str
    default: 10m
  patience:
    description: How long it may take to end when it is asked to, before it is killed.
    type: str
    default: 10s
  attended_in:
    description:
      - Folder of the host in whose subfolders those work for whom the program runs, each in a O(directory) of
        M(psap.perf.hosts.run) or of a program that is being started.
      - It is needed for O(unattended).
    type: path
  unattended:
    description:
      - How long nobody may work there, in seconds or like V(2m), until the program is stopped, and nothing of it stays.
      - Without it the program runs until it is stopped.
    type: str
  log:
    description: The name of the artifact with what it wrote.
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
  description: How long it took until it was ready, by the host's monotonic clock.
  type: float
  returned: when it was started
ran:
  description: Whether it ran until it was stopped; a warning says so when it did not.
  type: bool
  returned: when it was stopped
"""

import contextlib
from typing import Any

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.psap.perf.plugins.module_utils.hosts import services
from ansible_collections.psap.perf.plugins.module_utils.hosts.listening import listened, stop_when_asked
from ansible_collections.psap.perf.plugins.module_utils.hosts.programs import HostSideError, Stopped


def perform(args: dict[str, Any]) -> dict[str, Any]:
    """What the host answers; the action plugin has rendered the lines."""
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
    """What runs on the host."""
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
    stop_when_asked()
    try:
        module.exit_json(changed=True, answer=perform(module.params))
    except (HostSideError, OSError) as problem:
        module.fail_json(msg=str(problem))
    except Stopped:
        with contextlib.suppress(OSError):
            module.fail_json(msg="stopped")
        raise SystemExit(1) from None


if __name__ == "__main__":
    main()
