#!/usr/bin/python
# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: run
short_description: Run programs on a host and time one of them
version_added: 0.1.0
description:
  - Runs programs on the host that Ansible reaches, by its connection and as the user of C(become). One of them is
    timed, by the host's monotonic clock, any number of times. No shell is involved.
  - What a step makes is undone by its C(undo), of O(prepare) and O(program) after each run, of O(setup) after the last,
    whether or not something failed. The steps to undo are written to O(directory) before they are done, so that
    M(psap.perf.hosts.undo) undoes what a killed measurement left.
  - The times contain the start of the program's process. RV(overhead) says what that takes on this host, by the times
    of a program that does nothing.
  - When nobody listens any more, because the connection is lost or the run is interrupted, the program is killed within
    a second, and all is undone.
  - Needs Python 3.9 on the host, so no Windows.
author: The psap.perf developers (@openshift-psap)
options:
  words:
    description:
      - What stands for the words in braces of the lines, for example V({name}). A list that stands alone in a line
        becomes as many arguments.
    type: dict
    default: {}
  directory:
    description:
      - Where the programs run. It is created and removed; it must not exist.
    type: path
    required: true
  environment:
    description: Variables of the programs' environment.
    type: dict
    default: {}
  files:
    description: Texts by the names of files in O(directory), which are there before the setup.
    type: dict
    default: {}
  setup:
    description:
      - Steps before all runs. A step is a line, or a mapping with C(program), a line, C(unless), a line that succeeds
        when the step is not needed, C(undo), a line that undoes it, C(within), how long it is repeated until it
        succeeds, and C(each), a list of values for each of which it is done, with the word V({each}).
    type: list
    elements: raw
    default: []
  prepare:
    description: Steps before each run, which are not timed.
    type: list
    elements: raw
    default: []
  program:
    description: What is timed, a line or a step with C(undo). Without it the setup is done and undone.
    type: raw
  beside:
    description: A line that is started right before what is timed, and waited for after it.
    type: raw
  runs:
    description: How often it is timed.
    type: int
    default: 1
  timeout:
    description: How long each program may take, in seconds or like V(10m); it is killed then.
    type: str
    default: 10m
  proof:
    description:
      - What shows that a run did its work, which an exit code of 0 does not; a run that lacks it is a failure.
    type: list
    elements: dict
    default: []
    suboptions:
      program:
        description: A line, which must succeed; its output is searched, else that of the timed program.
        type: raw
      output:
        description: A regular expression that must be found.
        type: str
        required: true
  numbers:
    description:
      - Numbers to read from the output of the timed program, by name the regular expression whose first group is the
        number. One that is not found, or not above 0, is a failure.
    type: dict
    default: {}
  least:
    description: How long the program takes at least if it does its work; what ends earlier is a failure.
    type: str
    default: "0"
  tolerated:
    description:
      - A regular expression. A run that fails with such a standard error is recorded with its exit code, and the next
        one follows.
    type: str
  secrets:
    description:
      - References to secrets by names, such as C(file:token). The timed program reads them from its standard input, a
        line each of the name and the value in base64, and from nowhere else; they are on no disk of the host.
    type: dict
    default: {}
  left:
    description: Lines that have an output as long as something is left; they are run at the end.
    type: list
    elements: raw
    default: []
"""

EXAMPLES = r"""
- name: Time the start of a container
  psap.perf.hosts.run:
    words: {engine: [podman], name: perf-start}
    directory: /var/tmp/perf-start
    prepare:
      - program: "{engine} create --name {name} quay.io/podman/hello:latest"
        undo: "{engine} rm --force {name}"
    program: "{engine} start --attach {name}"
    runs: 10
"""

RETURN = r"""
runs:
  description: The timed runs.
  type: list
  elements: dict
  returned: when the host was reached
  contains:
    started:
      description: When it began, in seconds since the epoch by the controller's clock.
      type: float
    took_s: {description: How long it took by the host's monotonic clock., type: float}
    exit_code: {description: Its exit code; negative is a signal., type: int}
    user_s: {description: Processor time of it and the processes it waited for., type: float}
    system_s: {description: Their time in the kernel., type: float}
    max_rss_kib: {description: The largest resident memory of one of them., type: int}
    numbers: {description: What O(numbers) found., type: dict}
    beside_s: {description: How long O(beside) took from before it began., type: float}
overhead:
  description: The times of a program that does nothing.
  type: dict
  returned: when the host was reached
setup:
  description: What each step of the setup said.
  type: list
  elements: str
  returned: when the host was reached
stdout:
  description: What the last run said, or its last 64 KiB.
  type: str
  returned: when the host was reached
clock:
  description: How far the host's clock is ahead of the controller's, and within which bounds that is known.
  type: dict
  returned: when the host was reached
  contains:
    offset_s: {description: Seconds ahead., type: float}
    within_s: {description: Give or take., type: float}
monotonic_zero:
  description:
    - When the host's monotonic clock began, on Linux with its kernel, in seconds since the epoch by the controller's
      clock, within the bounds of RV(clock).
  type: float
  returned: when the host was reached
"""

import contextlib
from collections.abc import Mapping
from typing import Any

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.psap.perf.plugins.module_utils.hosts import measuring
from ansible_collections.psap.perf.plugins.module_utils.hosts.listening import listened, stop_when_asked
from ansible_collections.psap.perf.plugins.module_utils.hosts.programs import HostSideError, Stopped


def step(given: Mapping[str, Any]) -> measuring.Step:
    """A step as the action plugin has rendered it."""
    return measuring.Step(given["program"], given.get("unless"), given.get("undo"), float(given["within_s"]))


def plan(args: Mapping[str, Any]) -> measuring.Plan:
    """The module's arguments, whose lines the action plugin has rendered."""
    program: Mapping[str, Any] | None = args["program"]
    return measuring.Plan(
        directory=args["directory"],
        environment={name: str(value) for name, value in args["environment"].items()},
        files=args["files"],
        setup=[step(each) for each in args["setup"]],
        prepare=[step(each) for each in args["prepare"]],
        measured=step(program) if program else None,
        beside=args["beside"],
        runs=args["runs"],
        timeout_s=float(args["timeout"]),
        proof=[measuring.Proof(each["output"], each.get("program")) for each in args["proof"]],
        numbers=args["numbers"],
        least_s=float(args["least"]),
        tolerated=args["tolerated"],
        left=args["left"],
        stdin="".join(f"{name} {value}\n" for name, value in args["secrets"].items()).encode(),
    )


def main() -> None:
    """What runs on the host."""
    kinds = {
        "words": {"type": "dict", "default": {}},
        "directory": {"type": "path", "required": True},
        "environment": {"type": "dict", "default": {}},
        "files": {"type": "dict", "default": {}},
        "setup": {"type": "list", "elements": "raw", "default": []},
        "prepare": {"type": "list", "elements": "raw", "default": []},
        "program": {"type": "raw"},
        "beside": {"type": "raw"},
        "runs": {"type": "int", "default": 1},
        "timeout": {"type": "str", "default": "10m"},
        "proof": {
            "type": "list",
            "elements": "dict",
            "default": [],
            "options": {"program": {"type": "raw"}, "output": {"type": "str", "required": True}},
        },
        "numbers": {"type": "dict", "default": {}},
        "least": {"type": "str", "default": "0"},
        "tolerated": {"type": "str"},
        "left": {"type": "list", "elements": "raw", "default": []},
        "secrets": {"type": "dict", "default": {}, "no_log": True},
    }
    module = AnsibleModule(argument_spec=kinds)
    stop_when_asked()
    try:
        module.exit_json(changed=False, answer=measuring.measure(plan(module.params), listened))
    except HostSideError as problem:
        module.fail_json(msg=str(problem))
    except Stopped:
        with contextlib.suppress(OSError):
            module.fail_json(msg="stopped")
        raise SystemExit(1) from None


if __name__ == "__main__":
    main()
