"""The process around one call of ansible-runner; the only code that uses its keywords.

    python -m perfdrv.ansible.worker PARENT_PID   (a JSON request on stdin, JSON lines on stdout)

ansible-runner starts ansible-playbook on a pseudo-terminal, and returns its events and its exit code; it keeps no
artifacts. This module and the others of this folder add what ansible-runner does not do:

* Its `run_async` is a thread of the caller, so Ansible would inherit the driver's environment. Each call has a separate
  process with its own environment instead (`environment`, `workers`).
* Its `cancel_callback` is called between two outputs of Ansible, and kills one process group. A dead driver cannot
  answer a callback. The kernel therefore ends the worker with the driver, and Ansible with the worker (`supervised`);
  processes of other groups are adopted and killed here. Without a callback, ansible-runner would handle SIGTERM itself.
* It writes extra vars and the environment in plain text, so its folder is private, and is removed also after a kill -9
  (`private_directory`).
"""

from __future__ import annotations

import json
import os
import shlex
import signal
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from types import FrameType
from typing import Any, TextIO

from perfdrv.ansible.private_directory import PrivateDirectory
from perfdrv.ansible.supervised import adopt_orphans, die_with
from perfdrv.collection import activate
from perfdrv.errors import EXIT_INTERRUPTED


@dataclass(frozen=True, slots=True)
class AnsibleEvent:
    """The parts of an event that the driver shows; `name` is ansible-runner's, such as `runner_on_failed`."""

    name: str
    play: str
    task: str
    stdout: str


def main() -> None:
    """Run one request, and print each event and then the exit code as JSON lines."""
    request = json.load(sys.stdin)
    private = PrivateDirectory(Path(request["private"]))
    _end_with_driver(int(sys.argv[1]), Path(request["project"]), private)
    # libraries may print to stdout, which is reserved for the JSON lines
    report = os.fdopen(os.dup(1), "w", encoding="utf-8", buffering=1)
    os.dup2(2, 1)

    def on_event(event: AnsibleEvent) -> None:
        _write(report, {"event": asdict(event)})

    code = run_ansible(private.runner, Path(request["project"]), request["arguments"], on_event)
    _write(report, {"end": code})


def _end_with_driver(driver: int, project: Path, private: PrivateDirectory) -> None:
    """Kill all processes below this one when the driver dies; only Ansible's main process would end by itself."""
    activate(project)
    from ansible_collections.psap.perf.plugins.module_utils.base.processes import kill_descendants

    def end(_number: int, _frame: FrameType | None) -> None:
        kill_descendants(os.getpid())
        private.remove()
        os._exit(EXIT_INTERRUPTED)

    adopt_orphans()
    signal.signal(signal.SIGTERM, end)
    die_with(driver, signal.SIGTERM)


def run_ansible(
    private: Path, project: Path, arguments: list[str], on_event: Callable[[AnsibleEvent], None]
) -> int | None:
    """Run ansible-playbook by ansible-runner, in this process's environment.

    Args:
        private: An empty folder for ansible-runner's files.
        project: The working directory of Ansible.
        arguments: Arguments of ansible-playbook.
        on_event: Called for each event, in order.

    Returns:
        The exit code; None if a signal killed Ansible.
    """
    import ansible_runner
    import pexpect

    def handle(event: dict[str, Any]) -> bool:
        on_event(_event(event))
        return False  # write no event files: the run directory has its own records

    try:
        runner = ansible_runner.run(
            private_data_dir=str(private),
            project_dir=str(project),
            binary=sys.executable,
            cmdline=shlex.join(["-m", "perfdrv.ansible.supervised", str(os.getpid()), "ansible-playbook", *arguments]),
            event_handler=handle,
            cancel_callback=lambda: False,
            settings={"suppress_ansible_output": True, "suppress_output_file": True},
        )
    except pexpect.TIMEOUT:
        # Ansible is dead, but an orphan of it holds the terminal, and ansible-runner has lost the exit code
        return None
    code: int | None = runner.rc
    return code


def _event(event: Mapping[str, Any]) -> AnsibleEvent:
    data = event.get("event_data") or {}
    return AnsibleEvent(
        name=str(event.get("event", "")),
        play=str(data.get("play", "")),
        task=str(data.get("task", "")),
        stdout=str(event.get("stdout", "")),
    )


def _write(report: TextIO, document: Mapping[str, Any]) -> None:
    report.write(json.dumps(document, default=str) + "\n")


if __name__ == "__main__":
    main()
