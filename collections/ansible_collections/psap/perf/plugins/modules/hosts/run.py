#!/usr/bin/python
# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: run
short_description: Run programs on a host and time one of them
version_added: 0.1.0
description:
  - Runs programs on the host, over Ansible's connection and as the user of C(become). One of them is timed, by the
    host's monotonic clock, any number of times. No shell is involved.
  - The C(undo) of each step is run, of O(prepare) and O(program) after each run, of O(setup) after the last, also after
    a failure. It is written to O(directory) before the step, so that M(psap.perf.hosts.undo) can undo a killed
    measurement.
  - The times contain the start of the program's process. RV(overhead) has the times of a program that does nothing.
  - If the connection is lost or the run is interrupted, the program is killed within a second, and all is undone.
  - Needs Python 3.9 on the host, and does not support Windows.
author: The psap.perf developers (@openshift-psap)
options:
  words:
    description:
      - Values of the words in braces in the lines, for example V({name}). If an argument is only a word whose value is
        a list, it becomes several arguments.
    type: dict
    default: {}
  directory:
    description:
      - Directory in which the programs run. It is created and removed, and must not exist.
    type: path
    required: true
  environment:
    description: Variables of the programs' environment.
    type: dict
    default: {}
  files:
    description: Texts by the names of files in O(directory), written before the setup.
    type: dict
    default: {}
  setup:
    description:
      - Steps before all runs. A step is a line, or a mapping with C(program), a line, C(unless), a line that succeeds
        if the step is not needed, C(undo), a line that undoes it, C(within), the time for which it is repeated until it
        succeeds, and C(each), a list of values for which it is repeated, with the word V({each}).
    type: list
    elements: raw
    default: []
  prepare:
    description: Steps before each run, which are not timed.
    type: list
    elements: raw
    default: []
  program:
    description: The timed program, a line or a step with C(undo). Without it, the setup is run and undone.
    type: raw
  beside:
    description: A line that is started right before the timed program, and awaited after it.
    type: raw
  runs:
    description: Number of timed runs.
    type: int
    default: 1
  timeout:
    description: Time after which each program is killed, in seconds or as V(10m).
    type: str
    default: 10m
  proof:
    description:
      - Evidence that a run did its work, in addition to an exit code of 0; a run without it fails.
    type: list
    elements: dict
    default: []
    suboptions:
      program:
        description: A line, which must succeed, and whose output is searched; by default the timed program.
        type: raw
      output:
        description: A regular expression that must be found.
        type: str
        required: true
  numbers:
    description:
      - Regular expressions by name, whose first group is a number in the output of the timed program. A run fails if a
        number is missing, or not above 0.
    type: dict
    default: {}
  least:
    description: Minimum time of the program if it does its work; a run that ends earlier fails.
    type: str
    default: "0"
  tolerated:
    description:
      - A regular expression. A run that fails with such a standard error is recorded with its exit code, and the next
        one follows.
    type: str
  secrets:
    description:
      - References to secrets by name, such as C(file:token). The timed program reads them from its standard input, one
        line each with the name and the value in base64; they are on no disk of the host.
    type: dict
    default: {}
  left:
    description: Lines that print remaining objects; they are run at the end.
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
      description: Start, in seconds since the epoch by the controller's clock.
      type: float
    took_s: {description: Duration by the host's monotonic clock., type: float}
    exit_code: {description: Its exit code; negative is a signal., type: int}
    user_s: {description: Processor time of it and the child processes it waited for., type: float}
    system_s: {description: Their time in the kernel., type: float}
    max_rss_kib: {description: The largest resident memory of one of them., type: int}
    numbers: {description: The numbers of O(numbers)., type: dict}
    beside_s: {description: Duration of O(beside)., type: float}
overhead:
  description: The times of a program that does nothing.
  type: dict
  returned: when the host was reached
setup:
  description: Output of each step of the setup.
  type: list
  elements: str
  returned: when the host was reached
stdout:
  description: The last 64 KiB of the output of the last run.
  type: str
  returned: when the host was reached
clock:
  description: Offset of the host's clock from the controller's, and its uncertainty.
  type: dict
  returned: when the host was reached
  contains:
    offset_s: {description: Seconds ahead., type: float}
    within_s: {description: Uncertainty in seconds., type: float}
monotonic_zero:
  description:
    - When the host's monotonic clock began, on Linux with the boot of its kernel, in seconds since the epoch by the
      controller's clock, with the uncertainty of RV(clock).
  type: float
  returned: when the host was reached
"""

from collections.abc import Mapping
from typing import Any

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.psap.perf.plugins.module_utils.hosts import measuring
from ansible_collections.psap.perf.plugins.module_utils.hosts.listening import answer, listened


def step(given: Mapping[str, Any]) -> measuring.Step:
    """Return a step whose lines the action plugin has rendered."""
    return measuring.Step(given["program"], given.get("unless"), given.get("undo"), float(given["within_s"]))


def plan(args: Mapping[str, Any]) -> measuring.Plan:
    """Return the plan of the module's arguments, whose lines the action plugin has rendered."""
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
    """Run the module on the host."""
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
    answer(module, lambda: measuring.measure(plan(module.params), listened), changed=False)


if __name__ == "__main__":
    main()
